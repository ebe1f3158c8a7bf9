// Parts of a concatenation, or of a flat tensor, made where they will lie, instead of copied there.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Lets kernels that can write slices (KernelTraits::strided_outputs) write what is only to be set beside other values
/// straight into its place: the gradients of queries, keys and values into that of the product they are slices of.
/// What is set one behind the other, as all gradients are (ops/flatten.h), any kernel can make in its place, if it is
/// all that its storage holds. Results are the same to the last bit.
void elide_concat(Graph& graph);

}  // namespace vkf
