// belief-head: each head's own perpendicular component, δ^s_{m,i} = o_{m,i} − (<o, v> / <v, v>) v (002 eq 15, alone).

#include "models/attention/attention.h"
#include "ops/attention_epilogue.h"

namespace vkf {

Signals belief_head(const AttentionContext& at) {
    return {attention_project_out_heads({at.q, at.k, at.v, at.own_v}, at.options)};
}

}  // namespace vkf
