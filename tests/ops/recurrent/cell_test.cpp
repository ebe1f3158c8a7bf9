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
