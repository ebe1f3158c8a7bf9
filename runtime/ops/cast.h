// Weights in 16 bits: copies for products, and states that are kept so.
#pragma once

#include <span>
#include <string>

#include "graph/graph.h"

namespace vkf {

/// x itself, dense, in whatever format its place is given.
Tensor cast(Tensor x);

/// Lets products read copies of the states among their factors (KernelTraits::gemm_operands), which are then kept in 16
/// bits: a device that multiplies such numbers rounds a weight once a step and not once a tile, and moves half the
/// bytes. Optimisers, and whoever else reads those states, see the fp32 numbers. Call it when all products are there,
/// before anything is overwritten. States whose rows do not fall into pairs stay alone.
void cast_weights(Graph& graph);

/// Keeps those of the states, which nobody updates, in another format that products alone read, where their rows fall
/// into pairs. The others stay as they are.
void narrow_states(Graph& graph, std::span<const std::string> names, Format format);

}  // namespace vkf
