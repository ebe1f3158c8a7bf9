#include "ops/loss/soft_cross_entropy.h"

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/loss/cross_entropy.h"

namespace vkf::checks {
namespace {

std::vector<Tensor> mean_soft_loss(Inputs x) {
    return {soft_cross_entropy(x[0], x[1])};
}

/// Positive weights of classes, like smoothed and mixed labels.
Operand weights(Shape shape) {
    Operand operand = fixed(std::move(shape));
    operand.spread = 0.1;
    operand.centre = 1.0;
    return operand;
}

}  // namespace

std::vector<OpCase> soft_cross_entropy_cases() {
    std::vector<OpCase> list;
    for (const std::int64_t width : {2, 3, 10, 16, 17, 100, 127, 129, 1000})
        list.push_back({text("rows of ", width), {normal({7, width}), weights({7, width})}, mean_soft_loss});
    // log Σ exp − x is rounding noise of exactly 0.
    list.push_back({"one class", {normal({5, 1}), weights({5, 1})}, mean_soft_loss});
    list.push_back({"one row", {normal({1, 10}), weights({1, 10})}, mean_soft_loss});
    list.push_back({.name = "many rows",
                    .operands = {normal({2003, 10}), weights({2003, 10})},
                    .build = mean_soft_loss,
                    .finite_differences = false});
    list.push_back({"a batch", {normal({3, 5, 12}), weights({3, 5, 12})}, mean_soft_loss});
    list.push_back({.name = "weights of both signs",
                    .operands = {normal({9, 12}), fixed({9, 12})},
                    .build = mean_soft_loss,
                    .ulps = 64});
    list.push_back({"slices", {padded({9, 12}, 3), weights({9, 12})}, mean_soft_loss});
    list.push_back({.name = "logits by the thousand",
                    .operands = {normal({9, 33}, 30.0, 1e4), weights({9, 33})},
                    .build = mean_soft_loss,
                    .ulps = 64,
                    .finite_differences = false});
    return list;
}

}  // namespace vkf::checks
