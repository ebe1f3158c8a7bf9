#include "ops/sampling/argmax.h"

#include <limits>

#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace {

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
constexpr double ENDLESS = std::numeric_limits<double>::infinity();

OpCase greatest(std::string name, Operand x) {
    x.differentiate = false;
    return {std::move(name), {std::move(x)}, [](Inputs in) { return std::vector{argmax(in[0])}; }};
}

OpCase greatest_of(std::string name, Shape shape, std::vector<double> values) {
    Operand x = normal(std::move(shape));
    x.values = std::move(values);
    return greatest(std::move(name), std::move(x));
}

}  // namespace

std::vector<OpCase> argmax_cases() {
    return {
        greatest("one", normal({3, 1})),
        greatest("a vector", normal({37})),
        greatest("rows", normal({2, 5, 64})),
        greatest("odd rows", normal({7, 131})),
        greatest("wide rows", normal({3, 5003})),
        greatest("slices", padded({9, 34}, 2)),
        greatest("slices of odd rows", padded({9, 33}, 2)),
        greatest("many rows", normal({601, 12})),
        greatest_of("the first of equals", {2, 6}, {1, 3, 3, 0, 3, 2, -4, -5, -4, -4, -6, -7}),
        greatest_of("zeros of either sign", {2, 4}, {-1, -0.0, 0.0, -2, -1, 0.0, -0.0, -2}),
        greatest_of(
            "infinities", {3, 4},
            {-ENDLESS, -ENDLESS, -ENDLESS, -ENDLESS, 1, ENDLESS, ENDLESS, 2, -ENDLESS, -3e38, -ENDLESS, -ENDLESS}),
        greatest_of("the first NaN", {2, 6},
                    {1, 9, NOT_A_NUMBER, ENDLESS, NOT_A_NUMBER, 2, NOT_A_NUMBER, ENDLESS, 0, 0, 0, NOT_A_NUMBER}),
    };
}

}  // namespace vkf::checks
