#include "ops/elementwise/arithmetic.h"

#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

OpCase added(std::string name, Shape a, Shape b) {
    const bool small = a.elements() + b.elements() < 1000;
    return {.name = std::move(name),
            .operands = {normal(std::move(a)), normal(std::move(b))},
            .build = [](Inputs x) { return std::vector{mul(add(x[0], x[1]), x[1])}; },
            .finite_differences = small};
}

}  // namespace

std::vector<OpCase> arithmetic_cases() {
    return {
        added("a mask over heads and queries", {2, 3, 4, 6}, {2, 1, 1, 6}),
        added("a mask of odd width", {2, 3, 4, 5}, {2, 1, 1, 5}),
        added("a row for each sequence", {3, 1, 4}, {3, 5, 4}),
        added("a row for each sequence, odd", {3, 1, 7}, {3, 5, 7}),
        added("a column beside a row", {7, 1}, {1, 6}),
        added("a vector beside a column", {6}, {7, 1}),
        added("one beside a mask", {1, 1, 1, 1}, {2, 1, 3, 1}),
        added("both lack the other's axes", {4, 1, 3, 1}, {5, 1, 2}),
        added("the outermost and the innermost", {3, 1, 4, 1}, {3, 5, 4, 6}),
        added("six axes that repeat apart", {2, 1, 2, 1, 3, 1}, {1, 3, 1, 2, 1, 2}),
        added("long rows", {3, 1, 2501}, {3, 3, 2501}),
        added("many rows of two", {1, 700, 2}, {3, 1, 2}),
        {"div by a row for each sequence",
         {normal({2, 3, 4}), normal({2, 1, 4}, 0.1, 2.0)},
         [](Inputs x) { return std::vector{div(x[0], x[1])}; }},
        {"sub of slices that repeat",
         {padded({3, 1, 6}, 2), padded({4, 6}, 4)},
         [](Inputs x) { return std::vector{sub(x[0], x[1])}; }},
        {"add one", {normal({1}), normal({1})}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
        {"add rows", {normal({3, 7}), normal({3, 7})}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
        {"add bias", {normal({5, 17}), normal({17})}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
        {"add positions over a batch",
         {normal({3, 5, 9}), normal({5, 9})},
         [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
        {"sub from the narrow side",
         {normal({11}), normal({4, 11})},
         [](Inputs x) { return std::vector{sub(x[0], x[1])}; }},
        {"mul per row", {normal({6, 13}), normal({6, 1})}, [](Inputs x) { return std::vector{mul(x[0], x[1])}; }},
        {"mul by a middle run",
         {normal({2, 3, 5}), normal({3, 1})},
         [](Inputs x) { return std::vector{mul(x[0], x[1])}; }},
        {"div", {normal({31, 3}), normal({31, 3}, 0.1, 2.0)}, [](Inputs x) { return std::vector{div(x[0], x[1])}; }},
        {.name = "div by a scalar",
         .operands = {normal({2, 4099}), normal({}, 0.0, 3.0)},
         .build = [](Inputs x) { return std::vector{div(x[0], x[1])}; },
         .gradient_ulps = 600,  // the divisor's gradient sums 8198 terms of both signs: Σ|t| / |Σt| is about 600
         .finite_differences = false},
        {"add slices", {padded({7, 5}, 3), padded({7, 5}, 2)}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
        {"scale rows", {normal({3, 7})}, [](Inputs x) { return std::vector{scale(x[0], -0.75f)}; }},
        {.name = "scale",
         .operands = {normal({1, 4097})},
         .build = [](Inputs x) { return std::vector{scale(x[0], -0.75f)}; },
         .finite_differences = false},
        {"square by using an input twice", {normal({3, 3})}, [](Inputs x) { return std::vector{mul(x[0], x[0])}; }},
    };
}

}  // namespace vkf::checks
