#include "ops/rows/running_sum.h"

#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

/// Both results, or one of them. A sum of `count` terms has the rounding of as many additions.
OpCase sums(std::string name, Operand x, bool initial, bool reverse, bool before = true, bool total = true) {
    const Shape shape = x.type.shape;
    std::vector<Operand> operands{std::move(x)};
    if (initial) operands.push_back(padded({shape[0], shape[2]}, 2));
    const double count = static_cast<double>(shape[1] + 1);
    return {.name = std::move(name),
            .operands = std::move(operands),
            .build =
                [=](Inputs in) {
                    const RunningSums made = running_sums(in[0], initial ? in[1] : Tensor(), reverse);
                    std::vector<Tensor> results;
                    if (before) results.push_back(made.before);
                    if (total) results.push_back(made.total);
                    return results;
                },
            .ulps = 16 + count,
            .gradient_ulps = 64 + count};
}

}  // namespace

std::vector<OpCase> running_sum_cases() {
    return {
        sums("one", normal({1, 1, 1}), false, false),
        sums("rows", normal({3, 5, 7}), false, false),
        sums("rows and an initial sum", normal({3, 5, 7}), true, false),
        sums("in reverse", normal({3, 5, 6}), true, true),
        sums("slices", padded({2, 4, 6}, 4), true, false),
        sums("slices at odd distances", padded({2, 4, 6}, 3), true, true),
        sums("earlier rows only", normal({3, 5, 8}), false, false, true, false),
        sums("total only", normal({3, 5, 8}), true, false, false, true),
        sums("one row", normal({4, 1, 10}), true, false),
        sums("many rows", normal({2, 300, 3}), true, true),
        sums("many columns", normal({3, 2, 5003}), true, false),
    };
}

}  // namespace vkf::checks
