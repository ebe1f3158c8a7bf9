// Products of the same few rows become one node, run by one kernel if there is one.
#include <vector>

#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "passes/group_matmuls.h"
#include "passes/run_passes.h"

namespace vkf::checks {
namespace {

/// Products of a [rows, k] with weights of these numbers of columns.
OpCase products(std::string name, std::int64_t rows, std::int64_t k, std::vector<std::int64_t> columns, bool transposed,
                bool bias) {
    std::vector<Operand> operands{normal({rows, k})};
    for (const std::int64_t n : columns) {
        operands.push_back(normal(transposed ? Shape{n, k} : Shape{k, n}));
        if (bias) operands.push_back(normal({n}));
    }
    return {
        .name = std::move(name),
        .operands = std::move(operands),
        .build =
            [=](Inputs x) {
                const std::size_t each = bias ? 2 : 1;
                std::vector<Tensor> y;
                for (std::size_t i = 1; i < x.size(); i += each)
                    y.push_back(matmul(x[0], x[i], {.transpose_b = transposed, .bias = bias ? x[i + 1] : Tensor()}));
                return y;
            },
        .ulps = 32,
        .finite_differences = rows * k < 100};
}

}  // namespace

std::vector<OpCase> grouped_matmul_cases() {
    return {
        products("two of one column", 1, 1, {1, 1}, true, false),
        products("NT queries keys and values", 1, 96, {96, 32, 32}, true, false),
        products("NT odd", 1, 67, {7, 133, 64, 1}, true, true),
        products("NT rows", 3, 130, {65, 129}, true, true),
        products("NT large", 1, 300, {400, 350, 337, 340}, true, true),
        products("NT large rows", 4, 300, {400, 350}, true, false),
        products("NN large", 1, 64, {1600, 1601}, false, true),
        products("NT a long k", 2, 1030, {9, 40}, true, false),
        products("NN gate and up", 1, 64, {160, 160}, false, false),
        products("NN odd", 4, 33, {5, 257, 31}, false, true),
        products("NN rows", 2, 300, {48, 6}, false, true),
    };
}

}  // namespace vkf::checks
