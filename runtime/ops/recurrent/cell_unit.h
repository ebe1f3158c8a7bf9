// Recurrent cells at one hidden unit, in double: references of ops.
#pragma once

#include <array>

#include "graph/op.h"
#include "ops/recurrent/cell.h"

namespace vkf {

using GateValues = std::array<double, 4>;

struct UnitState {
    double h = 0, c = 0;
};

struct UnitGradients {
    GateValues a{}, u{};  // of a and u
    UnitState before;     // of the state before, without what flows through u
};

/// Gates of one unit in a row of `width` units that begins at element `first`; zeros if x is absent.
GateValues gates_at(const Array& x, Cell cell, std::size_t first, std::size_t width, std::size_t unit);
void store_gates(Array& x, Cell cell, std::size_t first, std::size_t width, std::size_t unit, const GateValues& values);

/// State after a step.
UnitState step_unit(Cell cell, const GateValues& a, const GateValues& u, const UnitState& before);
/// Gradients, where d is the gradient of the state after the step.
UnitGradients step_unit_backward(Cell cell, const GateValues& a, const GateValues& u, const UnitState& before,
                                 const UnitState& d);

}  // namespace vkf
