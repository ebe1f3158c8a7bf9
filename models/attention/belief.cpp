// belief: the component of the whole row ō_i perpendicular to v̄_i, heads concatenated,
//     δ_i = ō_i − (<ō_i, v̄_i> / <v̄_i, v̄_i>) v̄_i  (BeliefFormer 002 eq 10-14).

#include "models/attention/attention.h"
#include "ops/project_out.h"

namespace vkf {

Signals belief(const AttentionContext& at) {
    return {project_out(attention(at.q, at.k, at.v, at.options), at.own_v, 1, at.options.value_heads())};
}

}  // namespace vkf
