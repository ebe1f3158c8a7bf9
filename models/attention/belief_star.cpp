// belief-star: belief through W^o plus the per-head projection through a map of its own, δ_i W^o + δ^s_i W^s (002 eq
// 15-17).

#include "models/attention/attention.h"
#include "ops/project_out.h"

namespace vkf {

Signals belief_star(const AttentionContext& at) {
    const Tensor o = attention(at.q, at.k, at.v, at.options);
    const Projections left = project_out_both(o, at.own_v, at.options.heads, at.options.value_heads());
    return {left.rows, left.heads};
}

}  // namespace vkf
