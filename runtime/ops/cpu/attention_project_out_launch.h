// Attention and the projections of its result in one launch, on CPU devices, and their derivative.
#pragma once

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

/// Lowers the gradients of queries, o and query_values, and delta, to shaders/attention/
/// attention_project_out_backward_q.comp: the outputs 0, 3, 4 and 5 of a node whose inputs begin with attention's.
/// Returns false, without a launch, if that kernel cannot compute them or would keep fewer cores busy.
bool lower_attention_project_out_backward(Lowering& lowering, const AttentionTile& tile,
                                          const AttentionOptions& options, const ProjectOutOperands& operands,
                                          Tensor lse);

}  // namespace vkf
