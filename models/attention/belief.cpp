// belief: the component of the whole row ō_i perpendicular to v̄_i, heads concatenated,
//     δ_i = ō_i − (<ō_i, v̄_i> / <v̄_i, v̄_i>) v̄_i  (BeliefFormer 002 eq 10-14).

#include "models/attention/mixer.h"

namespace vkf {

const Mixer& belief_mixer() {
    static const Mixer mixer{.name = "belief", .mix = [](const AttentionContext& at) -> MixerOutput {
                                 return {attention_project_out_rows(at.inputs(), at.options)};
                             }};
    return mixer;
}

}  // namespace vkf
