// Derivative of attention whose result is projected.
#pragma once

#include <span>
#include <vector>

#include "ops/attention/attention_parts.h"
#include "ops/attention/project_out_launch.h"

namespace vkf {

/// Gradients of attention's inputs and of query_values. If query_values is v, v's gradient is the sum of both, and
/// d_own_v is absent. `in` begins with attention's inputs.
struct AttentionProjectOutGradients {
    std::vector<Tensor> d_in;
    Tensor d_own_v;
};
AttentionProjectOutGradients attention_project_out_gradients(const AttentionOptions& options,
                                                             std::span<const Tensor> in,
                                                             const ProjectOutOperands& operands, Tensor lse);

}  // namespace vkf
