#include "ops/recurrent/cell.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/integers.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "program/program.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

/// Tensors of a step: h' and, of an LSTM, c'.
std::vector<Tensor> stepped(Cell cell, Inputs x, const SequenceStep& time) {
    if (cell == Cell::rnn) return {time.lengths ? rnn_cell(x[0], x[1], x[2], time) : rnn_cell(x[0], x[1])};
    if (cell == Cell::gru) return {gru_cell(x[0], x[1], x[2], time)};
    const RecurrentState before{time.lengths ? x[3] : Tensor(), x[2]}, next = lstm_cell(x[0], x[1], before, time);
    return {next.h, next.c};
}

Shape gates_shape(Cell cell, std::int64_t batch, std::int64_t width) {
    return {batch, gates_of(cell) * width};
}

OpCase cell_case(std::string name, Cell cell, std::int64_t batch, std::int64_t width) {
    const Shape gates = gates_shape(cell, batch, width);
    std::vector<Operand> operands{normal(gates), normal(gates)};
    if (cell != Cell::rnn) operands.push_back(normal({batch, width}));
    return {.name = std::move(name),
            .operands = std::move(operands),
            .build = [cell](Inputs x) { return stepped(cell, x, {}); },
            .finite_differences = batch * width < 1000};
}

/// Some of the rows have ended at step 2.
OpCase with_lengths(std::string name, Cell cell, std::vector<double> lengths, std::int64_t width) {
    const auto batch = std::ssize(lengths);
    const Shape gates = gates_shape(cell, batch, width);
    std::vector<Operand> operands{normal(gates), normal(gates), normal({batch, width})};
    if (cell == Cell::lstm) operands.push_back(normal({batch, width}));
    operands.push_back(integers({batch}, 0, 9));
    operands.back().values = std::move(lengths);
    return {.name = std::move(name), .operands = std::move(operands), .build = [cell](Inputs x) {
                return stepped(cell, x.first(x.size() - 1), {x.back(), 2});
            }};
}

/// a is one step of [B, T, G·H], whose other steps are NaN; then the steps of one tensor, whose gradients are made in
/// place.
OpCase of_slice(std::string name, Cell cell, std::int64_t batch, std::int64_t width) {
    OpCase made = cell_case(std::move(name), cell, batch, width);
    made.operands[0].padding = 2 * gates_of(cell) * width + 1;
    return made;
}

OpCase of_steps(std::string name, Cell cell, std::int64_t width) {
    const std::int64_t batch = 3, columns = gates_of(cell) * width;
    return {.name = std::move(name),
            .operands = {normal({batch, 2 * columns}), normal({batch, columns}), normal({batch, width})},
            .build =
                [cell, columns](Inputs x) {
                    const std::vector<std::int64_t> widths{columns, columns};
                    const std::vector<Tensor> a = split(x[0], widths);
                    if (cell == Cell::gru) return std::vector{gru_cell(a[1], x[1], gru_cell(a[0], x[1], x[2]))};
                    const RecurrentState one = lstm_cell(a[0], x[1], {.h = {}, .c = x[2]}),
                                         two = lstm_cell(a[1], x[1], {.h = {}, .c = one.c});
                    return std::vector{add(one.h, two.h), two.c};
                },
            .ulps = 32};
}

std::vector<OpCase> cell_cases() {
    std::vector<OpCase> cases;
    const std::vector<std::pair<std::string, Cell>> cells{{"rnn", Cell::rnn}, {"lstm", Cell::lstm}, {"gru", Cell::gru}};
    for (const auto& [name, cell] : cells) {
        cases.push_back(cell_case(name + " of one unit", cell, 1, 1));
        cases.push_back(cell_case(name + " of an odd width", cell, 3, 7));
        cases.push_back(cell_case(name + " of an even width", cell, 5, 34));
        cases.push_back(cell_case(name + " of many rows", cell, 517, 6));
        cases.push_back(cell_case(name + " of wide rows", cell, 2, 1031));
        cases.push_back(of_slice(name + " of a slice", cell, 4, 9));
        cases.push_back(of_slice(name + " of a slice of an even width", cell, 4, 10));
        cases.push_back(with_lengths(name + " with lengths", cell, {3, 2, 1, 8, 0}, 7));
        cases.push_back(with_lengths(name + " with lengths of an even width", cell, {2, 3}, 12));
    }
    cases.push_back(of_steps("two steps of an lstm", Cell::lstm, 5));
    cases.push_back(of_steps("two steps of a gru", Cell::gru, 6));
    return cases;
}

VKF_OP_TABLE(RecurrentCell, cell_cases());

TEST(HostRecurrentCellShapes, RefusesOperandsThatDoNotFit) {
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {2, 12}}), u = graph.input("u", {DType::f32, {2, 12}}),
                 h = graph.input("h", {DType::f32, {2, 4}}), c = graph.input("c", {DType::f32, {2, 3}}),
                 lengths = graph.input("lengths", {DType::i32, {2}}), three = graph.input("three", {DType::i32, {3}});
    EXPECT_NO_THROW(gru_cell(a, u, h));
    EXPECT_NO_THROW(lstm_cell(a, u, {.h = {}, .c = c}));
    EXPECT_THROW(gru_cell(a, graph.input("u2", {DType::f32, {2, 15}}), h), InputError);
    EXPECT_THROW(gru_cell(a, u, c), InputError);
    EXPECT_THROW(lstm_cell(a, u, {.h = {}, .c = h}), InputError);
    EXPECT_THROW(lstm_cell(a, u, {.h = {}, .c = c}, {lengths, 0}), InputError);  // h is kept where a row has ended
    EXPECT_THROW(gru_cell(a, u, h, {three, 0}), InputError);
    EXPECT_THROW(gru_cell(a, u, h, {lengths, -1}), InputError);
    const Tensor odd = graph.input("odd", {DType::f32, {2, 13}});
    EXPECT_THROW(lstm_cell(odd, odd, {.h = {}, .c = c}), InputError);
}

/// Runs a cell of one unit per number, every gate of which has this number.
std::vector<float> of_numbers(Cell cell, const std::vector<float>& numbers) {
    const auto count = std::ssize(numbers);
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {count, gates_of(cell)}}),
                 u = graph.input("u", {DType::f32, {count, gates_of(cell)}}),
                 state = graph.input("state", {DType::f32, {count, 1}});
    graph.output("y", cell == Cell::rnn    ? rnn_cell(a, u)
                      : cell == Cell::lstm ? lstm_cell(a, u, {.h = {}, .c = state}).h
                                           : gru_cell(a, u, state));
    State values(shared_device());
    Program program(shared_device(), graph, values);
    std::vector<float> gates;
    for (const float x : numbers) gates.insert(gates.end(), as_index(gates_of(cell)), x);
    program.write("a", gates);
    program.write("u", std::vector<float>(gates.size(), 0.0f));
    program.write("state", std::vector<float>(numbers.size(), 0.5f));
    program.run();
    return program.read("y");
}

TEST(DeviceRecurrentCellRange, SaturatesAndKeepsNaN) {
    const float infinity = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max();
    for (const Cell cell : {Cell::rnn, Cell::lstm, Cell::gru}) {
        const std::vector<float> y = of_numbers(cell, {most, infinity, -most, -infinity, std::nanf("")});
        const double up = cell == Cell::rnn ? 1.0 : cell == Cell::lstm ? std::tanh(1.5) : 0.5;
        const double down = cell == Cell::lstm ? 0.0 : -1.0;
        for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(y[i], up, 1e-6) << static_cast<int>(cell);
        for (std::size_t i = 2; i < 4; ++i) EXPECT_NEAR(y[i], down, 1e-6) << static_cast<int>(cell);
        EXPECT_TRUE(std::isnan(y[4])) << static_cast<int>(cell);
    }
}

}  // namespace
}  // namespace vkf::test
