// belief-head: each head's own perpendicular component, δ^s_{m,i} = o_{m,i} − (<o, v> / <v, v>) v (002 eq 15, alone).

#include "models/attention/mixer.h"

namespace vkf {

const Mixer& belief_head_mixer() {
    static const Mixer mixer{.name = "belief-head", .mix = [](const AttentionContext& at) -> MixerOutput {
                                 return {attention_project_out_heads(at.inputs(), at.options)};
                             }};
    return mixer;
}

}  // namespace vkf
