// standard: o_i itself (AttentionX 000 eq 9; BeliefFormer 002 eq 6-9).

#include "models/attention/attention.h"

namespace vkf {

Signals standard(const AttentionContext& at) {
    return {attention(at.q, at.k, at.v, at.options)};
}

}  // namespace vkf
