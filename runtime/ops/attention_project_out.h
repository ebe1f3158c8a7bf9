// Attention and the projections of its result in one launch, and the derivative of both.
#pragma once

#include <span>
#include <vector>

#include "ops/attention_parts.h"
#include "ops/project_out_launch.h"

namespace vkf {

/// o and what is left of it by one kernel, shaders/attention_project_out.comp, as `tile` cuts rows. False where that
/// cannot be, or does not keep a CPU's cores as busy as heads by themselves.
bool lower_attention_project_out(Lowering& to, const AttentionTile& tile, const AttentionOptions& options,
                                 const Projection& of, Tensor own_v, const Projected& into, Tensor lse);

/// The gradients of all of attention's inputs, and of own_v; these are v's where own_v is v. `in` begins with
/// attention's.
struct AttentionProjectOutGradients {
    std::vector<Tensor> d_in;
    Tensor d_own_v;
};
AttentionProjectOutGradients attention_project_out_gradients(const AttentionOptions& options,
                                                             std::span<const Tensor> in, const ProjectOutOperands& of,
                                                             Tensor lse);

}  // namespace vkf
