#include "ops/attention/discrepancy.h"

#include <array>

#include "checks/op_tables.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

OpCase signal(std::string name, Operand o, Operand v, float gamma, GammaOn on, std::int64_t value_heads = 0) {
    return {std::move(name), {std::move(o), std::move(v)}, [=](Inputs x) {
                return std::vector{discrepancy(x[0], x[1], gamma, on, value_heads)};
            }};
}

}  // namespace

std::vector<OpCase> discrepancy_cases() {
    return {
        signal("one", normal({1}), normal({1}), 3.0f, GammaOn::sum),
        signal("sum", normal({5, 17}), normal({5, 17}), 3.0f, GammaOn::sum),
        signal("sum of weight one", normal({4, 16}), normal({4, 16}), 1.0f, GammaOn::sum),
        signal("value", normal({5, 17}), normal({5, 17}), 0.5f, GammaOn::value),
        signal("value of weight one", normal({3, 4}), normal({3, 4}), 1.0f, GammaOn::value),
        signal("slices", padded({2, 3, 9}, 2), padded({2, 3, 9}, 18), 3.0f, GammaOn::sum),
        signal("narrow rows", normal({1031, 1}), normal({1031, 1}), 3.0f, GammaOn::sum),
        signal("many rows", normal({259, 31}), padded({259, 31}, 62), 0.5f, GammaOn::value),
        {"values that start at an odd element",
         {normal({4, 6}), normal({4, 10})},
         [](Inputs x) {
             const std::array<std::int64_t, 3> widths{3, 6, 1};
             return std::vector{discrepancy(x[0], split(x[1], widths)[1], 2.0f, GammaOn::sum)};
         }},
        signal("long rows", normal({3, 5003}), normal({3, 5003}), 3.0f, GammaOn::sum),
        signal("heads sharing values", normal({5, 24}), normal({5, 8}), 3.0f, GammaOn::sum, 2),
    };
}

std::vector<OpCase> repeat_heads_cases() {
    return {
        {"repeat one", {normal({1, 1})}, [](Inputs x) { return std::vector{repeat_heads(x[0], 1, 3)}; }},
        {"repeat", {normal({5, 6})}, [](Inputs x) { return std::vector{repeat_heads(x[0], 2, 4)}; }},
        {"repeat odd heads", {padded({3, 2, 35}, 70)}, [](Inputs x) { return std::vector{repeat_heads(x[0], 5, 3)}; }},
        {"repeat a single head", {normal({7, 33})}, [](Inputs x) { return std::vector{repeat_heads(x[0], 1, 12)}; }},
        {"repeat many rows",
         {normal({519, 8})},
         [](Inputs x) { return std::vector{repeat_heads(x[0], 4, 2)}; },
         16,
         64,
         false},
    };
}

}  // namespace vkf::checks
