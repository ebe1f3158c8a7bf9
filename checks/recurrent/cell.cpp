#include "ops/recurrent/cell.h"

#include "base/integers.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "program/program.h"

namespace vkf::checks {
namespace {

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

}  // namespace

std::vector<OpCase> recurrent_cell_cases() {
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

}  // namespace vkf::checks
