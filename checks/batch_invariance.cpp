#include "checks/batch_invariance.h"

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "ops/attention/attention.h"
#include "ops/matmul/matmul.h"
#include "ops/rows/norm.h"
#include "ops/rows/softmax.h"
#include "passes/run_passes.h"

namespace vkf::checks {

namespace {

/// The first elements of an endless row of normal numbers.
Operand prefix(Shape shape, std::uint64_t number) {
    Operand operand = fixed(std::move(shape));
    Random random(11, "rows", number);
    for (std::int64_t i = 0; i < operand.type.shape.elements(); ++i)
        operand.values.push_back(static_cast<double>(static_cast<float>(random.normal())));
    return operand;
}

OpCase linear_rows(std::int64_t rows) {
    return {.name = "linear",
            .operands = {prefix({rows, 96}, 0), prefix({80, 96}, 1), prefix({80}, 2)},
            .build = [](Inputs x) { return std::vector{matmul(x[0], x[1], {.transpose_b = true, .bias = x[2]})}; }};
}

OpCase norm_of_rows(std::int64_t rows) {
    return {.name = "norm", .operands = {prefix({rows, 130}, 0), prefix({130}, 1)}, .build = [](Inputs x) {
                return std::vector{rms_norm(x[0], x[1], 1e-5f)};
            }};
}

OpCase softmax_of_rows(std::int64_t rows) {
    return {.name = "softmax", .operands = {prefix({rows, 130}, 0)}, .build = [](Inputs x) {
                return std::vector{softmax(x[0])};
            }};
}

OpCase attention_of_rows(std::int64_t rows) {
    const Shape shape{rows, 19, 2 * 16};
    return {
        .name = "attention", .operands = {prefix(shape, 0), prefix(shape, 1), prefix(shape, 2)}, .build = [](Inputs x) {
            return std::vector{attention(x[0], x[1], x[2], {.heads = 2, .mask = {.causal = true}})};
        }};
}

constexpr RowCase all_rows[] = {
    {"linear", linear_rows}, {"norm", norm_of_rows}, {"softmax", softmax_of_rows}, {"attention", attention_of_rows}};

std::vector<float> results(Device& device, const OpCase& c, Format format, const ProgramOptions& lowering) {
    CaseGraph graph(c, false, format);
    run_passes(graph.graph);
    return run_case(device, graph, lowering).outputs.at("y0");
}

}  // namespace

std::span<const RowCase> row_cases() {
    return all_rows;
}

std::string batch_dependence(Device& device, const RowCase& rows, Format format, const ProgramOptions& lowering) {
    constexpr std::int64_t most = 129, counts[] = {1, 2, 5, 16, 65};
    const std::vector<float> all = results(device, rows.first(most), format, lowering);
    const std::size_t width = all.size() / most;
    for (const std::int64_t count : counts) {
        const std::vector<float> some = results(device, rows.first(count), format, lowering);
        for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row)
            if (std::memcmp(&some[row * width], &all[row * width], width * sizeof(float)) != 0)
                return text("row ", row, " has other bits among ", most, " rows than among ", count);
    }
    return "";
}

}  // namespace vkf::checks
