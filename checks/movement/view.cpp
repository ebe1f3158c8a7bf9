#include "ops/movement/view.h"

#include <array>

#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

OpCase permuted(std::string name, Operand x, std::vector<int> axes) {
    return {std::move(name), {std::move(x)}, [axes](Inputs in) { return std::vector{permute(in[0], axes)}; }};
}

OpCase sliced(std::string name, Operand x, int axis, std::int64_t start, std::int64_t count) {
    return {std::move(name), {std::move(x)}, [=](Inputs in) { return std::vector{slice(in[0], axis, start, count)}; }};
}

const std::vector<std::int64_t> three_widths{5, 1, 7};

}  // namespace

std::vector<OpCase> view_cases() {
    return {
        {"reshape",
         {normal({4, 6})},
         [](Inputs x) {
             return std::vector{reshape(x[0], {2, 3, 4})};
         }},
        {"reshape to a scalar", {normal({1, 1})}, [](Inputs x) { return std::vector{reshape(x[0], {})}; }},
        {"reshape rows of a slice",
         {padded({6, 5}, 2)},
         [](Inputs x) {
             return std::vector{reshape(x[0], {2, 3, 5})};
         }},
        {"reshape across rows of a slice",
         {padded({6, 5}, 2)},
         [](Inputs x) {
             return std::vector{reshape(x[0], {5, 6})};
         }},
        {"split", {normal({7, 13})}, [](Inputs x) { return split(x[0], three_widths); }},
        {"split of a slice", {padded({3, 2, 13}, 4)}, [](Inputs x) { return split(x[0], three_widths); }},
        {"split of one row", {normal({13})}, [](Inputs x) { return split(x[0], three_widths); }},
        {"only the middle of a split",
         {normal({7, 13})},
         [](Inputs x) { return std::vector{split(x[0], three_widths)[1]}; }},
        {"only the ends of a split",
         {normal({7, 13})},
         [](Inputs x) {
             const auto parts = split(x[0], three_widths);
             return std::vector{parts[0], parts[2]};
         }},
        {"split of a part of a split",
         {normal({7, 13})},
         [](Inputs x) {
             const std::array<std::int64_t, 2> widths{3, 4};
             return split(split(x[0], three_widths)[2], widths);
         }},
        {"rows of columns",
         {normal({9, 13})},
         [](Inputs x) { return std::vector{slice(slice(x[0], 1, 2, 5), 0, 3, 4)}; }},
        {"columns of rows",
         {normal({9, 13})},
         [](Inputs x) { return std::vector{slice(slice(x[0], 0, 3, 4), 1, 2, 5)}; }},
        {"heads of a joint projection",
         {padded({2, 5, 12}, 24)},
         [](Inputs x) {
             const std::array<int, 4> axes{0, 2, 1, 3};
             return std::vector{permute(reshape(x[0], {2, 5, 3, 4}), axes)};
         }},
        {"concat", {normal({5, 3}), normal({5, 1}), normal({5, 17})}, [](Inputs x) { return std::vector{concat(x)}; }},
        {"concat of slices",
         {padded({2, 5, 3}, 1), padded({2, 5, 8}, 8)},
         [](Inputs x) { return std::vector{concat(x)}; }},
        {"concat of rank one", {normal({3}), normal({1})}, [](Inputs x) { return std::vector{concat(x)}; }},
        {"concat of scalars", {normal({}), normal({})}, [](Inputs x) { return std::vector{concat(x)}; }},
        {"concat twice the same",
         {normal({4, 3})},
         [](Inputs x) {
             const std::array<Tensor, 2> both{x[0], x[0]};
             return std::vector{concat(both)};
         }},
        sliced("first rows", normal({9, 5}), 0, 0, 4),
        sliced("last rows", normal({9, 2, 5}), 0, 6, 3),
        sliced("columns", normal({3, 4, 11}), -1, 4, 6),
        sliced("columns of a slice", padded({6, 11}, 2), -1, 4, 7),
        sliced("rows of a slice", padded({6, 11}, 2), 0, 1, 3),
        sliced("the class token", normal({3, 5, 7}), 1, 0, 1),
        sliced("all but the class token", normal({3, 5, 7}), 1, 1, 4),
        sliced("a middle axis", normal({2, 6, 3, 5}), 1, 2, 3),
        sliced("of a vector", normal({31}), 0, 7, 8),
        sliced("all of it", normal({3, 5}), 0, 0, 3),
        permuted("transpose", normal({37, 23}), {1, 0}),
        permuted("transpose of a slice", padded({7, 23}, 5), {1, 0}),
        permuted("transpose of a column", normal({9, 1}), {1, 0}),
        permuted("heads", normal({2, 5, 3, 8}), {0, 2, 1, 3}),
        permuted("heads by negative axes", normal({2, 5, 3, 8}), {0, -2, 1, -1}),
        permuted("heads of a slice", padded({2, 5, 3, 8}, 1), {0, 2, 1, 3}),
        permuted("reverse", normal({3, 4, 5, 2}), {3, 2, 1, 0}),
        permuted("patches", normal({2, 3, 2, 4, 3, 5}), {0, 2, 4, 1, 3, 5}),
        permuted("in order", padded({3, 4}, 2), {0, 1}),
        {.name = "permute of many",
         .operands = {normal({3, 41, 5, 17})},
         .build =
             [](Inputs x) {
                 const std::array<int, 4> axes{2, 0, 3, 1};
                 return std::vector{permute(x[0], axes)};
             },
         .finite_differences = false},
        {"contiguous", {padded({3, 7, 5}, 3)}, [](Inputs x) { return std::vector{contiguous(x[0])}; }},
        {.name = "contiguous of many",
         .operands = {padded({67, 129}, 1)},
         .build = [](Inputs x) { return std::vector{contiguous(x[0])}; },
         .finite_differences = false},
    };
}

}  // namespace vkf::checks
