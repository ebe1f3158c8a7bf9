// attentionx: the consensus discrepancy between the values and their weighted sum,
//     φ_i = v_i − γ·o_i  (gamma on the sum, 000 eq 10-11)   or   φ_i = γ·v_i − o_i  (on the value, 001 eq 9-10).

#include "models/attention/attention.h"
#include "ops/attention_epilogue.h"

namespace vkf {

Signals attentionx(const AttentionContext& at) {
    return {attention_discrepancy({at.q, at.k, at.v, at.own_v}, at.config.gamma, at.config.gamma_on, at.options)};
}

}  // namespace vkf
