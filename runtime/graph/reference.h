// The graph executed on the host in double precision: the truth that kernels and derivatives are judged by.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// Named arrays: values for inputs and states going in; outputs and overwritten states coming out.
using Arrays = std::map<std::string, Array>;

/// Runs every live node in order. Throws InputError if an input or state has no array of its shape.
Arrays interpret(const Graph& graph, const Arrays& leaves);

/// The outputs of one op on given arrays: its own reference, or its expansion interpreted.
std::vector<Array> evaluate(const Op& op, std::span<const Array> in, std::span<const TensorType> types);

}  // namespace vkf
