// belief-head: each head's own perpendicular component, δ^s_{m,i} = o_{m,i} − (<o, v> / <v, v>) v (002 eq 15, alone).

#include "models/attention/attention.h"
#include "ops/project_out.h"

namespace vkf {

Signals belief_head(const AttentionContext& at) {
    const Tensor o = attention(at.q, at.k, at.v, at.options);
    return {project_out(o, at.own_v, at.options.heads, at.options.value_heads())};
}

}  // namespace vkf
