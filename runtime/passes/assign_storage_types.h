// Assignment of 16-bit formats to transient tensors, with casts between them and the other tensors.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Keeps activations in the format that the graph asks for (Graph::activations; f32 changes nothing). Kernels compute
/// in fp32 and round what they store; types and shapes do not change.
///
/// The rules, all of which are in this pass and in the traits of ops' kernels (KernelTraits):
/// - A value is kept in 16 bits if the kernel that makes it can write it so, every kernel that reads it can read it so,
///   and its rows fall into pairs everywhere. These stay fp32, because no kernel takes them otherwise: parameters and
///   their gradients, moments, statistics of rows, logits and the loss.
/// - A sum is kept no less precisely than its terms (`widening`), so the residual stream and its gradient stay fp32.
/// - Ops of lower precision, attention and projections, compute in 16 bits if most of their inputs are kept so, and
///   have the others cast. Their operands then stay in 16 bits even if other nodes read them: a node that needs fp32
///   reads a cast copy.
/// - Products take their factors in 16 bits (Graph::half_factors). If a factor stays fp32, such as the residual
///   stream's gradient, all products read one cast copy; its other readers see the fp32 numbers. cast_weights() makes
///   such copies of states (ops/elementwise/cast.h), before anything overwrites the states.
/// - Outputs of the graph are fp32: if a value is kept in 16 bits, the output is a cast copy. Being an output never
///   changes how a value is kept.
/// Storages that could be kept in 16 bits but are not give the reason (Storage::why_f32).
void assign_storage_types(Graph& graph);

}  // namespace vkf
