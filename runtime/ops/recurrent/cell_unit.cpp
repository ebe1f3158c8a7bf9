#include "ops/recurrent/cell_unit.h"

#include <cmath>

#include "base/integers.h"

namespace vkf {

namespace {

/// Values of the gates after their activations.
GateValues activated(Cell cell, const GateValues& a, const GateValues& u) {
    const auto sigmoid = [&](std::size_t g) { return 1.0 / (1.0 + std::exp(-(a[g] + u[g]))); };
    switch (cell) {
        case Cell::rnn:
            return {std::tanh(a[0] + u[0])};
        case Cell::lstm:
            return {sigmoid(0), sigmoid(1), std::tanh(a[2] + u[2]), sigmoid(3)};
        case Cell::gru:
            break;
    }
    return {sigmoid(0), sigmoid(1), std::tanh(a[2] + sigmoid(0) * u[2])};
}

}  // namespace

GateValues gates_at(const Array& x, Cell cell, std::size_t first, std::size_t width, std::size_t unit) {
    GateValues values{};
    for (std::size_t g = 0; g < as_index(gates_of(cell)) && !x.at.empty(); ++g)
        values[g] = x.at[first + g * width + unit];
    return values;
}

void store_gates(Array& x, Cell cell, std::size_t first, std::size_t width, std::size_t unit,
                 const GateValues& values) {
    for (std::size_t g = 0; g < as_index(gates_of(cell)); ++g) x.at[first + g * width + unit] = values[g];
}

UnitState step_unit(Cell cell, const GateValues& a, const GateValues& u, const UnitState& before) {
    const GateValues gates = activated(cell, a, u);
    if (cell == Cell::rnn) return {.h = gates[0]};
    if (cell == Cell::gru) return {.h = (1.0 - gates[1]) * gates[2] + gates[1] * before.h};
    const double c = gates[1] * before.c + gates[0] * gates[2];
    return {.h = gates[3] * std::tanh(c), .c = c};
}

UnitGradients step_unit_backward(Cell cell, const GateValues& a, const GateValues& u, const UnitState& before,
                                 const UnitState& d) {
    const GateValues gates = activated(cell, a, u);
    const auto slope = [&](std::size_t g) { return gates[g] * (1.0 - gates[g]); };  // of a sigmoid
    UnitGradients made;
    switch (cell) {
        case Cell::rnn:
            made.a[0] = d.h * (1.0 - gates[0] * gates[0]);
            made.u = made.a;
            break;
        case Cell::lstm: {
            const double t = std::tanh(step_unit(cell, a, u, before).c), d_c = d.c + d.h * gates[3] * (1.0 - t * t);
            made.a = {d_c * gates[2] * slope(0), d_c * before.c * slope(1),
                      d_c * gates[0] * (1.0 - gates[2] * gates[2]), d.h * t * slope(3)};
            made.u = made.a;
            made.before.c = d_c * gates[1];
            break;
        }
        case Cell::gru: {
            const double d_n = d.h * (1.0 - gates[1]) * (1.0 - gates[2] * gates[2]);
            made.a = {d_n * u[2] * slope(0), d.h * (before.h - gates[2]) * slope(1), d_n};
            made.u = {made.a[0], made.a[1], d_n * gates[0]};
            made.before.h = d.h * gates[1];
            break;
        }
    }
    return made;
}

}  // namespace vkf
