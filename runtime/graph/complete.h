// What a graph goes through once it is complete.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Sums into the kernels that make their terms (fold.h), chains into one node (fuse.h), parts into their places
/// (place.h), activations into `format` (narrow.h): in this order, each leaving the next less to do. Values stay what
/// they are, but for rounding.
void complete(Graph& graph, Format format);

}  // namespace vkf
