// Which transient tensors of a graph are kept in 16 bits.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Gives a 16-bit format to every transient storage that only kernels touch which take it so (Op::halves), and whose
/// rows fall into pairs everywhere. Types and values of the graph stay what they are: kernels compute in fp32 and round
/// what they store. What no kernel takes narrow stays fp32 by itself: parameters and their gradients, moments, the
/// residual stream, statistics, logits and the loss. Call it when the graph is complete;
/// f32 leaves it as it is. The graph keeps the format in mind: products may then round their operands to 16 bits, too.
void narrow(Graph& graph, Format format);

}  // namespace vkf
