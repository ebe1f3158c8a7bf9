// Attention and the projections of its result in one launch, and the derivative of both.
#pragma once

#include <span>
#include <vector>

#include "ops/attention/attention_parts.h"
#include "ops/attention/project_out_launch.h"

namespace vkf {

/// True if one kernel can compute o and its projections, with rows cut as in `tile`, and keeps a CPU's cores as busy as
/// one that computes each head by itself.
bool projects_in_one_launch(const Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                            Tensor query_values, const Projected& into);

/// Lowers o and its projections to that kernel, shaders/attention/attention_project_out.comp.
void lower_attention_project_out(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                                 const Projection& projection, Tensor query_values, const Projected& into, Tensor lse);

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
