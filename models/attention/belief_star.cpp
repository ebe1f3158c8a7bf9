// belief-star: belief through W^o plus the per-head projection through a map of its own, δ_i W^o + δ^s_i W^s (002 eq
// 15-17).

#include "models/attention/mixer.h"

namespace vkf {

const Mixer& belief_star_mixer() {
    static const Mixer mixer{.name = "belief-star", .mix = [](const AttentionContext& at) -> MixerOutput {
                                 const Projections left = attention_project_out_both(at.inputs(), at.options);
                                 return {left.rows, left.heads};
                             }};
    return mixer;
}

}  // namespace vkf
