// standard: o_i itself (AttentionX 000 eq 9; BeliefFormer 002 eq 6-9).

#include "models/attention/mixer.h"

namespace vkf {

const Mixer& standard_mixer() {
    static const Mixer mixer{.name = "standard", .mix = [](const AttentionContext& at) -> MixerOutput {
                                 return {attention(at.q, at.k, at.v, at.options)};
                             }};
    return mixer;
}

}  // namespace vkf
