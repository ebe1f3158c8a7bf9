// Execution of a graph on the host in double precision: the reference for kernels and derivatives.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// Named arrays: values of inputs and states as arguments; outputs and overwritten states as results.
using Arrays = std::map<std::string, Array>;

/// Runs every live node in order. Throws InputError if an input or state has no array of its shape.
Arrays interpret(const Graph& graph, const Arrays& leaves);

/// Outputs of one op for given arrays, by the op's reference or by interpreting its expansion.
std::vector<Array> evaluate(const Op& op, std::span<const Array> in, std::span<const TensorType> types);

}  // namespace vkf
