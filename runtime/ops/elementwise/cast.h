// Weights in 16 bits: copies for products, and states kept in 16 bits.
#pragma once

#include <span>
#include <string>

#include "graph/graph.h"

namespace vkf {

/// Dense copy of x, in the format that its storage is given.
Tensor cast(Tensor x);

/// Lets products read copies of the states among their factors (KernelTraits::gemm_operands). The copies are kept in 16
/// bits: a device that multiplies such numbers rounds a weight once a step instead of once a tile, and moves half the
/// bytes. Optimisers and all other readers of those states see the fp32 numbers. Call it after all products are added,
/// before any state is overwritten. States with rows of odd width are not copied.
void cast_weights(Graph& graph);

/// Keeps those of the named states in `format` that only products read and whose rows have even widths. No op updates
/// the named states. The others keep their format.
void narrow_states(Graph& graph, std::span<const std::string> names, Format format);

}  // namespace vkf
