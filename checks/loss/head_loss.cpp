#include "ops/loss/head_loss.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

using Build = std::function<std::vector<Tensor>(Inputs)>;

/// head_loss() in chunks of logits of at most `bytes` bytes.
Build in_chunks(std::int64_t bytes, LossTerms terms = {}) {
    return [=](Inputs x) { return std::vector{head_loss(x[0], x[1], x[2], {.logits_bytes = bytes, .terms = terms})}; };
}

constexpr std::int64_t all = 32 << 20;

/// A case of rows × width logits from `channels` channels; a fifth of the rows have no target.
OpCase rows_of(std::string name, std::int64_t rows, std::int64_t channels, std::int64_t width, std::int64_t bytes,
               LossTerms terms = {}) {
    // The gradient of x is a running sum of `width` terms, one of which outweighs the rest: its roundings, at most half
    // an ulp each, add up like a random walk. (A weight's gradient adds the sums of chunks of rows.)
    const double random_walk = std::sqrt(static_cast<double>(width));
    return {
        .name = std::move(name),
        .operands = {normal({rows, channels}), normal({width, channels}, 1 / std::sqrt(static_cast<double>(channels))),
                     integers({rows}, -width / 4, width)},
        .build = in_chunks(bytes, terms),
        .gradient_ulps = std::max(64.0, random_walk),
        .finite_differences = rows * width <= 1024};
}

}  // namespace

std::vector<OpCase> head_loss_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t width : {2, 3, 8, 17, 65, 129})
        cases.push_back(rows_of(text("all rows of ", width), 7, 6, width, all));
    cases.push_back(rows_of("odd channels", 9, 5, 12, all));
    cases.push_back(rows_of("characters", 768, 128, 65, all));
    cases.push_back(rows_of("GPT-2's vocabulary", 5, 16, 50257, all));
    cases.push_back(rows_of("GPT-2's vocabulary, two rows at a time", 5, 16, 50257, 2 * 4 * 50258));
    cases.push_back(rows_of("a row at a time", 5, 6, 12, 1));
    cases.push_back(rows_of("chunks that do not come out even", 17, 6, 12, 5 * 4 * 12));
    cases.push_back(rows_of("odd rows and odd channels in chunks", 17, 5, 13, 3 * 4 * 14));
    cases.push_back(rows_of("whole tiles", 300, 16, 33, 70 * 4 * 34));
    cases.push_back({"a batch", {normal({3, 5, 6}), normal({12, 6}), integers({3, 5}, -2, 12)}, in_chunks(4 * 4 * 12)});
    cases.push_back({"no target at all", {normal({5, 6}), normal({12, 6}), integers({5}, -9, 0)}, in_chunks(200)});
    cases.push_back({"targets past the end", {normal({9, 6}), normal({12, 6}), integers({9}, 8, 40)}, in_chunks(200)});
    cases.push_back({"one row", {normal({1, 6}), normal({12, 6}), integers({1}, 4, 5)}, in_chunks(all)});
    cases.push_back({"slices", {padded({9, 6}, 3), padded({12, 6}, 2), integers({9}, 0, 12)}, in_chunks(200)});
    cases.push_back(
        {"targets from a slice", {normal({3, 4, 6}), normal({12, 6}), integers({3, 5}, 0, 12)}, [](Inputs x) {
             return std::vector{head_loss(x[0], x[1], slice(x[2], -1, 1, 4), {.logits_bytes = 200})};
         }});
    cases.push_back({"part of a larger loss", {normal({9, 6}), normal({7, 6}), integers({9}, 0, 7)}, [](Inputs x) {
                         return std::vector{scale(head_loss(x[0], x[1], x[2], {.logits_bytes = 100}), 1024.0f)};
                     }});
    // The last operand is the upstream gradient that the loss gets in advance.
    const auto told = [](Inputs x) { return head_loss(x[0], x[1], x[2], {.logits_bytes = 100, .d_loss = x[3]}); };
    const Operand d_loss{.type = {DType::f32, {1}}, .differentiate = false, .values = {48.0}};
    cases.push_back({"another gradient than it was told",
                     {normal({9, 6}), normal({7, 6}), integers({9}, -2, 7), d_loss},
                     [=](Inputs x) {
                         return std::vector{told(std::array{x[0], x[1], x[2], reshape(x[3], {})})};
                     }});
    cases.push_back(
        {"the gradient that it was told", {fixed({9, 6}), fixed({7, 6}), integers({9}, -2, 7), d_loss}, [=](Inputs x) {
             const std::array in{x[0], x[1], x[2], reshape(x[3], {})};
             const Tensor mean = told(in);
             return gradients(std::span(&mean, 1), std::span(&in[3], 1), x.first(2));
         }});
    cases.push_back(
        {"the table is used elsewhere too", {normal({9, 6}), normal({9, 6}), integers({9}, 0, 9)}, [](Inputs x) {
             return std::vector{head_loss(mul(x[0], x[1]), x[1], x[2], {.logits_bytes = 100})};
         }});
    cases.push_back({"a frozen table", {normal({9, 6}), fixed({7, 6}), integers({9}, 0, 7)}, in_chunks(100)});
    cases.push_back({"frozen inputs", {fixed({9, 6}), normal({7, 6}), integers({9}, 0, 7)}, in_chunks(100)});
    cases.push_back({"nothing to differentiate", {fixed({9, 6}), fixed({7, 6}), integers({9}, 0, 7)}, in_chunks(100)});
    for (const float z : {1e-4f, 0.25f})
        cases.push_back({text("z-loss ", z),
                         {normal({9, 6}), normal({13, 6}), integers({9}, -2, 13)},
                         in_chunks(200, {.z_loss = z})});
    for (const float epsilon : {0.1f, 0.875f})
        for (const std::int64_t width : {2, 17, 128, 129})
            cases.push_back(
                rows_of(text("smoothing ", epsilon, " of ", width), 7, 6, width, all, {.label_smoothing = epsilon}));
    // Without z-loss the gradient of one column is 0. Kernels return just that too, because these numbers are exact.
    for (const float z : {0.0f, 0.25f})
        cases.push_back({text("smoothing of one column and z-loss ", z),
                         {normal({8, 6}), normal({1, 6}), integers({8}, 0, 1)},
                         in_chunks(all, {.z_loss = z, .label_smoothing = 0.25f})});
    const LossTerms both{.z_loss = 0.25f, .label_smoothing = 0.1f};
    cases.push_back(rows_of("smoothing and z-loss in chunks", 17, 5, 13, 3 * 4 * 14, both));
    cases.push_back(rows_of("smoothing and z-loss of whole tiles", 300, 16, 33, 70 * 4 * 34, both));
    cases.push_back(rows_of("smoothing of GPT-2's vocabulary", 5, 16, 50257, all, {.label_smoothing = 0.1f}));
    cases.push_back({"smoothing with no target at all",
                     {normal({5, 6}), normal({12, 6}), integers({5}, -9, 0)},
                     in_chunks(200, both)});
    cases.push_back({"smoothing with nothing to differentiate",
                     {fixed({9, 6}), fixed({7, 6}), integers({9}, -2, 7)},
                     in_chunks(100, both)});
    // Logits 1000 … 1004 are exact, so the loss must be as accurate as that of 0 … 4.
    cases.push_back({"smoothing of large logits",
                     {{.type = {DType::f32, {2, 2}}, .values = {1000, 1, 1000, 2}},
                      {.type = {DType::f32, {3, 2}}, .differentiate = false, .values = {1, 0, 1, 1, 1, 2}},
                      {.type = {DType::i32, {2}}, .differentiate = false, .values = {0, 2}}},
                     in_chunks(all, {.label_smoothing = 0.5f})});
    const double nan = std::nan("");
    cases.push_back({"NaN in a row without a target",
                     {{.type = {DType::f32, {2, 2}}, .differentiate = false, .values = {nan, nan, 1, 2}},
                      fixed({3, 2}),
                      {.type = {DType::i32, {2}}, .differentiate = false, .values = {-1, 2}}},
                     in_chunks(all)});
    cases.push_back(cases.back());
    cases.back().name += ", smoothing";
    cases.back().build = in_chunks(all, both);
    return cases;
}

}  // namespace vkf::checks
