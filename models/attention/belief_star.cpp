// belief-star: belief through W^o plus the per-head projection through a map of its own, δ_i W^o + δ^s_i W^s (002 eq
// 15-17).

#include "models/attention/attention.h"
#include "ops/attention_epilogue.h"

namespace vkf {

Signals belief_star(const AttentionContext& at) {
    const Projections left = attention_project_out_both({at.q, at.k, at.v, at.own_v}, at.options);
    return {left.rows, left.heads};
}

}  // namespace vkf
