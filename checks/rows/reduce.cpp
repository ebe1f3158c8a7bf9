#include "ops/rows/reduce.h"

#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

OpCase rows_summed(std::string name, Operand x) {
    const bool small = x.type.shape.elements() < 1000;
    return {.name = std::move(name),
            .operands = {std::move(x)},
            .build = [](Inputs in) { return std::vector{row_sum(in[0])}; },
            .finite_differences = small};
}

OpCase columns_summed(std::string name, Operand x) {
    const bool small = x.type.shape.elements() < 1000;
    return {.name = std::move(name),
            .operands = {std::move(x)},
            .build = [](Inputs in) { return std::vector{column_sum(in[0])}; },
            .finite_differences = small};
}

OpCase columns_summed(std::string name, Operand x, Operand row_scale) {
    OpCase made = columns_summed(std::move(name), std::move(x));
    made.operands.push_back(std::move(row_scale));
    made.build = [](Inputs in) { return std::vector{column_sum(in[0], in[1])}; };
    return made;
}

OpCase summed_to(std::string name, Operand x, Shape shape) {
    return {std::move(name), {std::move(x)}, [shape](Inputs in) { return std::vector{sum_to(in[0], shape)}; }};
}

/// A long sum, split into several runs if the device has many workgroups.
OpCase long_sum(std::string name, Operand x, Shape shape) {
    OpCase made = summed_to(std::move(name), std::move(x), std::move(shape));
    made.finite_differences = false;
    return made;
}

OpCase repeated_to(std::string name, Operand x, Shape shape) {
    return {std::move(name), {std::move(x)}, [shape](Inputs in) { return std::vector{broadcast_to(in[0], shape)}; }};
}

/// Positive numbers for single sums, whose terms must not cancel: limits are relative to the result.
Operand positive(Shape shape) {
    return normal(std::move(shape), 0.25, 1.0);
}

}  // namespace

std::vector<OpCase> reduce_cases() {
    return {
        rows_summed("rows of one", normal({5, 1})),
        rows_summed("one row", positive({1, 3})),
        rows_summed("narrow rows", normal({37, 7})),
        rows_summed("wide rows", normal({3, 5, 131})),
        rows_summed("rows of a slice", padded({9, 33}, 2)),
        rows_summed("many rows", normal({601, 67})),
        rows_summed("one long row", positive({10007})),
        columns_summed("one column", normal({19, 1})),
        columns_summed("columns of one row", normal({1, 9})),
        columns_summed("columns of a vector", normal({9})),
        columns_summed("few columns", normal({53, 3})),
        columns_summed("columns", normal({2, 17, 37})),
        columns_summed("columns of a slice", padded({29, 37}, 3)),
        columns_summed("columns in many runs", normal({777, 129})),
        columns_summed("columns of many rows", normal({4099, 5})),
        columns_summed("columns of rows with factors", normal({29, 37}), normal({29, 1})),
        columns_summed("columns of samples with factors", padded({7, 5, 12}, 2), normal({7, 1, 1})),
        columns_summed("columns of samples with factors, in many runs", normal({37, 65, 34}), fixed({37, 1, 1})),
        summed_to("to itself", normal({3, 5}), {3, 5}),
        summed_to("to a bias", normal({2, 7, 11}), {11}),
        summed_to("to a bias with ones", normal({2, 7, 11}), {1, 1, 11}),
        summed_to("to positions", normal({3, 7, 11}), {7, 11}),
        summed_to("to one per row", normal({3, 7, 11}), {3, 7, 1}),
        summed_to("to one per position", normal({3, 7, 11}), {7, 1}),
        summed_to("to one per example", normal({3, 7, 11}), {3, 1, 1}),
        summed_to("to a scalar", positive({3, 7, 11}), {}),
        summed_to("to a one", positive({3, 7, 11}), {1, 1}),
        summed_to("a slice to a bias", padded({6, 11}, 4), {11}),
        summed_to("a slice to a scalar", padded({6, 11}, 4), {}),
        summed_to("without a leading one", normal({1, 5}), {5}),
        summed_to("to one for each sequence", normal({2, 3, 4}), {2, 1, 4}),
        summed_to("to a mask over heads and queries", normal({2, 3, 4, 5}), {2, 1, 1, 5}),
        summed_to("over the outermost and a middle axis", normal({2, 3, 4, 5}), {3, 1, 5}),
        summed_to("over a middle and the innermost axis", normal({2, 3, 4, 5}), {2, 1, 4, 1}),
        summed_to("over every other axis", normal({2, 3, 4, 3, 2}), {1, 3, 1, 3, 1}),
        summed_to("a slice over a middle axis", padded({3, 7, 11}, 3), {3, 1, 11}),
        repeated_to("a bias", normal({11}), {3, 2, 11}),
        repeated_to("a row's number", normal({6, 1}), {6, 9}),
        repeated_to("a middle run", normal({3, 1}), {2, 3, 5}),
        repeated_to("a scalar", normal({}), {4, 7}),
        repeated_to("a slice", padded({4, 3}, 2), {5, 4, 3}),
        repeated_to("with a leading one", normal({5}), {1, 5}),
        repeated_to("a row for each sequence", normal({2, 1, 4}), {2, 3, 4}),
        repeated_to("along every other axis", normal({3, 1, 2, 1}), {2, 3, 4, 2, 3}),
        long_sum("many rows of each of three", normal({3, 1024, 33}), {3, 1, 33}),
        long_sum("a prime number of rows of each", normal({5, 521, 6}), {5, 1, 6}),
    };
}

}  // namespace vkf::checks
