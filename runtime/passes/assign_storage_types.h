// Which transient tensors of a graph are kept in 16 bits, and the casts at the boundaries between these and the others.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Keeps activations in the format that the graph asks for (Graph::activations; with f32 nothing changes). Kernels
/// compute in fp32 and round what they store; types and shapes stay what they are.
///
/// The rules, all of which are here and in what ops say of their kernels (KernelTraits):
/// - A value is kept in 16 bits if the kernel that makes it can write it so, every kernel that reads it can read it so,
///   and its rows fall into pairs everywhere. So these stay fp32, because no kernel takes them otherwise: parameters
///   and their gradients, moments, statistics of rows, logits and the loss.
/// - A sum is kept no worse than its terms (`widening`): so the residual stream and its gradient stay fp32.
/// - Ops of lower precision, attention and projections, compute in 16 bits if most of their inputs are kept so, and
///   have the others cast. What they touch then stays in 16 bits whoever else looks at it: a node that needs fp32 reads
///   a cast copy.
/// - Products have their factors in 16 bits (Graph::half_factors): of one that stays fp32, as the residual stream's
///   gradient does, they read a cast copy, one for all products. Whoever else reads it sees the fp32 numbers. Of states
///   cast_weights() makes such copies (ops/cast.h), before anything overwrites them.
/// - Outputs of the graph are fp32: of a value that is kept in 16 bits they are a cast copy. That alone never changes
///   how the value is kept.
/// Storages that could be kept in 16 bits and are not say why (Storage::why_f32).
void assign_storage_types(Graph& graph);

}  // namespace vkf
