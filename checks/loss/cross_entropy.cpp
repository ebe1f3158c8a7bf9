#include "ops/loss/cross_entropy.h"

#include <cmath>

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

std::vector<Tensor> mean_loss(Inputs x) {
    return {cross_entropy(x[0], x[1])};
}

OpCase rows_of(std::string name, std::int64_t rows, std::int64_t width) {
    return {.name = std::move(name),
            .operands = {normal({rows, width}), integers({rows}, -1, width)},
            .build = mean_loss,
            .finite_differences = rows * width <= 4096};
}

}  // namespace

std::vector<OpCase> cross_entropy_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t width : {2, 3, 8, 16, 17, 65, 127, 128, 129, 1000, 5003})
        cases.push_back(rows_of(text("rows of ", width), 7, width));
    cases.push_back(rows_of("characters", 768, 65));
    cases.push_back(rows_of("GPT-2's vocabulary", 5, 50257));
    cases.push_back(rows_of("many rows", 5003, 3));
    // log Σ exp equals the logit, so the loss is 0.
    cases.push_back({"one class", {normal({5, 1}), integers({5}, 0, 1)}, mean_loss});
    cases.push_back({"one row", {normal({1, 10}), integers({1}, 4, 5)}, mean_loss});
    cases.push_back({"one row without an axis", {normal({10}), integers({1}, 4, 5)}, [](Inputs x) {
                         return std::vector{cross_entropy(x[0], reshape(x[1], {}))};
                     }});
    cases.push_back({"a batch", {normal({3, 5, 12}), integers({3, 5}, -2, 12)}, mean_loss});
    cases.push_back({"no target at all", {normal({5, 12}), integers({5}, -9, 0)}, mean_loss});
    cases.push_back({"targets past the end", {normal({9, 12}), integers({9}, 8, 40)}, mean_loss});
    cases.push_back({"slices", {padded({9, 12}, 3), integers({9}, 0, 12)}, mean_loss});
    cases.push_back({"targets from a slice", {normal({3, 4, 12}), integers({3, 5}, 0, 12)}, [](Inputs x) {
                         return std::vector{cross_entropy(x[0], slice(x[1], -1, 1, 4))};
                     }});
    cases.push_back({"in the memory of the logits", {normal({9, 77}), integers({9}, 0, 77)}, [](Inputs x) {
                         return std::vector{cross_entropy(scale(x[0], 3.0f), x[1])};
                     }});
    cases.push_back({"part of a larger loss", {normal({9, 7}), integers({9}, 0, 7)}, [](Inputs x) {
                         return std::vector{scale(cross_entropy(x[0], x[1]), 1024.0f)};
                     }});
    cases.push_back({.name = "logits by the thousand",
                     .operands = {normal({9, 33}, 30.0, 1e4), integers({9}, 0, 33)},
                     .build = mean_loss,
                     .finite_differences = false});
    const double nan = std::nan("");
    cases.push_back({"NaN in a row without a target",
                     {{.type = {DType::f32, {2, 3}}, .values = {nan, nan, nan, 1, 2, 3}},
                      {.type = {DType::i32, {2}}, .differentiate = false, .values = {-1, 2}}},
                     mean_loss});
    // A loss near 0 is log(1 + loss) and its gradient is softmax − 1: both lose precision as they get smaller than 1.
    cases.push_back({.name = "sure and right",
                     .operands = {{.type = {DType::f32, {2, 3}}, .values = {9, 1, 0, -1, 8, 1}},
                                  {.type = {DType::i32, {2}}, .differentiate = false, .values = {0, 1}}},
                     .build = mean_loss,
                     .ulps = 8 / 4e-4,
                     .gradient_ulps = 8 / 2e-4});
    return cases;
}

}  // namespace vkf::checks
