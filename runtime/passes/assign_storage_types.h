// Which transient tensors of a graph are kept in 16 bits.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Gives the graph's 16-bit format to every transient storage that only kernels touch which take it so, and whose
/// rows fall into pairs everywhere. Types and values of the graph stay what they are: kernels compute in fp32 and round
/// what they store. What no kernel takes narrow stays fp32 by itself: parameters and their gradients, moments, the
/// residual stream, statistics, logits and the loss. With Graph::activations f32 it leaves the graph as it is.
void assign_storage_types(Graph& graph);

}  // namespace vkf
