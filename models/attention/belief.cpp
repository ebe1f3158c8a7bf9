// belief: the component of the whole row ō_i perpendicular to v̄_i, heads concatenated,
//     δ_i = ō_i − (<ō_i, v̄_i> / <v̄_i, v̄_i>) v̄_i  (BeliefFormer 002 eq 10-14).

#include "models/attention/attention.h"
#include "ops/attention_epilogue.h"

namespace vkf {

Signals belief(const AttentionContext& at) {
    return {attention_project_out_rows({at.q, at.k, at.v, at.own_v}, at.options)};
}

}  // namespace vkf
