#include "ops/attention/rope.h"

#include <array>

#include "checks/op_tables.h"
#include "models/attention/rope_scaling.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

/// x [B, T, heads·D] at positions 0, 1, …, in a tensor that is `padding` columns wider.
OpCase counted(std::string name, Shape shape, std::int64_t heads, std::int64_t padding = 0, bool clockwise = false) {
    const std::int64_t head = shape.width() / heads, length = shape[1];
    const bool small = shape.elements() < 4000;
    return {.name = std::move(name),
            .operands = {padding ? padded(std::move(shape), padding) : normal(std::move(shape))},
            .build =
                [=](Inputs x) {
                    const Tensor table = rope_table(x[0].graph(), rope_frequencies(head, 1e4), length + 3);
                    return std::vector{rope(x[0], table, {.clockwise = clockwise})};
                },
            .ulps = 4,  // three roundings, and that of the table
            .gradient_ulps = 4,
            .finite_differences = small};
}

/// A case with given positions, inside a table of 19 positions or outside.
OpCase given(std::string name, Shape shape, std::int64_t heads, Operand positions) {
    const std::int64_t head = shape.width() / heads;
    return {.name = std::move(name),
            .operands = {normal(std::move(shape)), std::move(positions)},
            .build =
                [=](Inputs x) {
                    const Tensor table = rope_table(x[0].graph(), rope_frequencies(head, 5e5), 19);
                    return std::vector{rope(x[0], table, {.positions = x[1]})};
                },
            .ulps = 4,
            .gradient_ulps = 4};
}

}  // namespace

std::vector<OpCase> rope_cases() {
    return {
        counted("one pair", {1, 1, 2}, 1),
        counted("an odd half", {2, 5, 6}, 1),
        counted("odd halves", {2, 7, 30}, 3),
        counted("even halves", {2, 7, 24}, 3),
        counted("heads of 64", {3, 17, 192}, 3),
        counted("heads of 128, many rows", {2, 131, 256}, 2),
        counted("many narrow heads", {1, 9, 68}, 17),
        counted("a wide head", {1, 3, 1030}, 1),
        counted("clockwise", {2, 7, 24}, 3, 0, true),
        counted("slices", {2, 5, 24}, 2, 10),
        counted("slices at odd elements", {2, 5, 12}, 1, 3),
        {"queries and keys of a common product",
         {normal({2, 5, 40})},
         [](Inputs x) {
             const std::array<std::int64_t, 3> widths{16, 8, 16};
             const auto part = split(x[0], widths);
             const Tensor table = rope_table(x[0].graph(), rope_frequencies(8, 1e4), 5);
             const auto [q, k] = rope(part[0], part[1], table);
             return std::vector{q, k, part[2]};
         }},
        {"queries and keys of other pitches",
         {padded({2, 7, 24}, 3), padded({2, 7, 12}, 2)},
         [](Inputs x) {
             const auto [q, k] =
                 rope(x[0], x[1], rope_table(x[0].graph(), rope_frequencies(6, 1e4), 9), {.clockwise = true});
             return std::vector{q, k};
         }},
        {"queries and keys at given positions",
         {normal({3, 5, 32}), normal({3, 5, 8}), integers({3, 5}, 0, 19)},
         [](Inputs x) {
             const Tensor table = rope_table(x[0].graph(), rope_frequencies(8, 1e4), 19);
             const auto [q, k] = rope(x[0], x[1], table, {.positions = x[2]});
             return std::vector{q, k};
         }},
        {"only the keys' rotation is read",
         {normal({2, 5, 16}), normal({2, 5, 8})},
         [](Inputs x) {
             const Tensor table = rope_table(x[0].graph(), rope_frequencies(8, 1e4), 5);
             return std::vector{rope(x[0], x[1], table)[1], scale(x[0], 2.0f)};
         }},
        {"only the queries' rotation is read",
         {normal({2, 5, 16}), normal({2, 5, 8})},
         [](Inputs x) {
             const Tensor table = rope_table(x[0].graph(), rope_frequencies(8, 1e4), 5);
             return std::vector{rope(x[0], x[1], table)[0], scale(x[1], 2.0f)};
         }},
        {"in place of another rotation",
         {normal({2, 5, 16})},
         [](Inputs x) {
             const Tensor table = rope_table(x[0].graph(), rope_frequencies(8, 1e4), 5);
             return std::vector{rope(rope(x[0], table), table)};
         }},
        given("positions of all", {3, 5, 16}, 2, integers({5}, 0, 19)),
        given("positions of each", {3, 5, 16}, 2, integers({3, 5}, 0, 19)),
        given("positions outside", {3, 5, 16}, 2, integers({3, 5}, -9, 40)),
        {"positions in a slice",
         {normal({2, 3, 8}), integers({2, 5}, 0, 19)},
         [](Inputs x) {
             const Tensor table = rope_table(x[0].graph(), rope_frequencies(8, 1e4), 19);
             return std::vector{rope(x[0], table, {.positions = slice(x[1], -1, 1, 3)})};
         }},
    };
}

}  // namespace vkf::checks
