// Makes parts of a concatenation, or of a flat tensor, in their final place instead of copying them there.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Lets kernels that can write slices (KernelTraits::strided_outputs) write a value whose only use is a concatenation
/// straight into its place: the gradients of queries, keys and values into the gradient of the product they are slices
/// of. Parts of a flat tensor, such as all gradients (ops/movement/flatten.h), can be made in their place by any
/// kernel, if the part is all that its storage holds. Results are the same to the last bit.
void elide_concat(Graph& graph);

}  // namespace vkf
