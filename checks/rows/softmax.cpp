#include "ops/rows/softmax.h"

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace {

OpCase softmax_of(std::string name, Shape shape, const AttentionMask& mask = {}) {
    const bool small = shape.elements() <= 4096;
    return {.name = std::move(name),
            .operands = {normal(std::move(shape), 2.0)},
            .build = [mask](Inputs x) { return std::vector{softmax(x[0], mask)}; },
            .finite_differences = small};
}

/// Rows of batch row b have lengths[b] columns; a single length is that of all rows.
OpCase with_lengths(std::string name, Shape shape, std::vector<double> lengths, const AttentionMask& mask = {}) {
    return {.name = std::move(name),
            .operands = {normal(std::move(shape), 2.0),
                         {.type = {DType::i32, {std::ssize(lengths)}}, .differentiate = false, .values = lengths}},
            .build = [mask](Inputs x) {
                AttentionMask with = mask;
                with.key_lengths = x[1];
                return std::vector{softmax(x[0], with)};
            }};
}

}  // namespace

std::vector<OpCase> softmax_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t width : {1, 2, 3, 7, 8, 16, 17, 31, 64, 65, 129, 768, 4100, 5003})
        cases.push_back(softmax_of(text("rows of ", width), {3, width}));
    cases.push_back(softmax_of("one scalar", {}));
    cases.push_back(softmax_of("one vector", {37}));
    cases.push_back(softmax_of("many rows", {2053, 19}));
    cases.push_back(softmax_of("causal", {2, 3, 33, 33}, {.causal = true}));
    cases.push_back(softmax_of("causal, more keys", {2, 5, 12}, {.causal = true}));
    // The first rows see no key: their results and gradients are zero.
    cases.push_back(softmax_of("causal, fewer keys", {2, 12, 5}, {.causal = true}));
    cases.push_back(softmax_of("causal off the diagonal", {2, 9, 9}, {.causal = true, .diagonal = true}));
    cases.push_back(softmax_of("off the diagonal", {2, 9, 9}, {.diagonal = true}));
    cases.push_back(softmax_of("off the diagonal, more keys", {7, 11}, {.diagonal = true}));
    cases.push_back(softmax_of("off the diagonal, fewer keys", {11, 7}, {.diagonal = true}));
    cases.push_back(softmax_of("window", {2, 9, 12}, {.window_left = 3, .window_right = 1}));
    cases.push_back(softmax_of("off the only column", {3, 1, 1}, {.diagonal = true}));
    cases.push_back({"slices", {padded({7, 21}, 3)}, [](Inputs x) { return std::vector{softmax(x[0])}; }});
    cases.push_back({"in the memory of its input", {normal({9, 70})}, [](Inputs x) {
                         return std::vector{softmax(scale(x[0], 3.0f))};
                     }});
    cases.push_back(with_lengths("lengths", {3, 5, 9}, {9, 1, 4}));
    cases.push_back(with_lengths("lengths of whole and empty rows", {4, 2, 3, 64}, {64, 0, 63, 1}));
    cases.push_back(with_lengths("lengths outside the rows", {2, 7, 10}, {-3, 12}));
    cases.push_back(with_lengths("one length", {3, 4, 33}, {17}));
    cases.push_back(with_lengths("one length for one row", {1, 700}, {333}));
    cases.push_back(with_lengths("lengths of a matrix", {3, 6}, {2, 6, 3}));
    cases.push_back(with_lengths("lengths and causal", {3, 6, 11}, {11, 6, 3}, {.causal = true}));
    cases.push_back(with_lengths("lengths of long rows", {2, 2, 4100}, {4099, 70}));
    // Few columns dominate a row, and the rounding of 1 - y dominates the gradient.
    cases.push_back({.name = "logits by the thousand",
                     .operands = {normal({6, 33}, 30.0, 1e4)},
                     .build = [](Inputs x) { return std::vector{softmax(x[0])}; },
                     .gradient_ulps = 256,
                     .finite_differences = false});
    cases.push_back({.name = "logits far apart",
                     .operands = {normal({6, 33}, 1e30)},
                     .build = [](Inputs x) { return std::vector{softmax(x[0])}; },
                     .finite_differences = false});
    return cases;
}

}  // namespace vkf::checks
