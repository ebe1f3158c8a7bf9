#include "checks/device/matrix_products.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/random.h"
#include "graph/autotuner.h"
#include "ops/matmul/matmul.h"
#include "passes/run_passes.h"
#include "program/program.h"
#include "program/tuning_attempt.h"

namespace vkf::checks {

namespace {

// --- Matrices of a subgroup ----------------------------------------------------------------------

/// y = a b of one matrix each: shaders/check/one_matrix_product.glsl.
class OneMatrixProductOp : public Op {
public:
    explicit OneMatrixProductOp(const MatrixShape& shape) : shape_(shape) {}

    std::string_view name() const override { return "one_matrix_product"; }

    std::vector<TensorType> infer(std::span<const TensorType>) const override {
        return {{DType::f32, {shape_.m, shape_.n}}};
    }

    void lower(Lowering& lowering) const override {
        lowering.dispatch(
            {.kernel = shape_.element == MatrixElement::bf16 ? "one_matrix_product_bf16" : "one_matrix_product",
             .constants = {{"GROUP", checked_u32(lowering.device.subgroup_size)},
                           {"MATRIX_M", shape_.m},
                           {"MATRIX_N", shape_.n},
                           {"MATRIX_K", shape_.k}},
             .args = {{"a", lowering.in[0]}, {"b", lowering.in[1]}, {"y", lowering.out[0]}},
             .groups = 1,
             .flops = 2.0 * shape_.m * shape_.n * shape_.k});
    }

private:
    MatrixShape shape_;
};

/// Whole numbers from -15 to 15, which both elements hold. Their sums need more digits than fp16 has.
std::vector<float> whole_numbers(std::size_t count, const char* name) {
    Random random(17, name);
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.below(31)) - 15);
    return values;
}

std::string fault_of(Device& device, const MatrixShape& shape) {
    const std::vector<float> a = whole_numbers(std::size_t{shape.m} * shape.k, "a");
    const std::vector<float> b = whole_numbers(std::size_t{shape.k} * shape.n, "b");
    Graph graph;
    const Tensor left = graph.input("a", {DType::f32, {shape.m, shape.k}});
    const Tensor right = graph.input("b", {DType::f32, {shape.k, shape.n}});
    graph.output("y", add_one(graph, OneMatrixProductOp(shape), {left, right}));
    State state(device);
    Program program(device, graph, state, {});
    program.write("a", a);
    program.write("b", b);
    program.run();
    const std::vector<float> y = program.read("y");
    for (std::size_t i = 0; i < shape.m; ++i)
        for (std::size_t j = 0; j < shape.n; ++j) {
            float wanted = 0;
            for (std::size_t k = 0; k < shape.k; ++k) wanted += a[i * shape.k + k] * b[k * shape.n + j];
            if (const float got = y[i * shape.n + j]; !(got == wanted))
                return text("element (", i, ", ", j, ") is ", got, ", wanted ", wanted);
        }
    return "";
}

// --- Matrices of a workgroup ---------------------------------------------------------------------

/// A product of values kept in a format, and the kernels that may compute it.
struct TunedProduct {
    TunedProduct(const Device& device, Format format) {
        graph.activations = format;
        const Tensor a = graph.input("a", {DType::f32, {256, 256}});
        graph.output("y", matmul(a, a));
        lowering = traits(device, graph);
        run_passes(graph, passes_for(lowering));
        for (TuningProblem& at : tuning_problems(graph, lowering))
            for (const std::string& candidate : at.candidates)
                if (candidate.starts_with("coopmat2")) problem = at, kernel = candidate;
    }

    Graph graph;
    DeviceTraits lowering;
    TuningProblem problem;
    std::string kernel;  // for a workgroup's matrices; empty: there is none
};

std::string fault_of_workgroup(Device& device, Format format) {
    const TunedProduct product(device, format);
    const std::unique_ptr<TuningCase> made = product.problem.correctness_case();
    const TuningOperands operands = made->operands();
    return TuningAttempt(device, product.lowering, *made, operands, product.kernel).mismatch();
}

}  // namespace

std::vector<MatrixProduct> matrix_products(const Device& device) {
    std::vector<MatrixProduct> list;
    for (const Format format : {Format::f16, Format::bf16}) {
        const TunedProduct product(device, format);
        const std::optional<MatrixShape> shape = product.lowering.matrices;
        if (!shape) continue;
        const std::string name = text(shape->m, 'x', shape->n, 'x', shape->k), part = to_string(shape->element);
        // bfloat16 may be computed by matrices of fp16.
        if (list.empty() || list.front().part != part)
            list.push_back({part, name, [at = *shape](Device& opened) { return fault_of(opened, at); }});
        if (!product.kernel.empty())
            list.push_back({"workgroup", text(product.kernel, " of ", part),
                            [format](Device& opened) { return fault_of_workgroup(opened, format); }});
    }
    return list;
}

}  // namespace vkf::checks
