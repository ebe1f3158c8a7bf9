// belief-star: belief through W^o plus the per-head projection through a map of its own, δ_i W^o + δ^s_i W^s (002 eq
// 15-17).

#include "models/attention/attention.h"

namespace vkf {

Signals belief(const Heads& heads);
Signals belief_head(const Heads& heads);

Signals belief_star(const Heads& heads) {
    return {belief(heads).first, belief_head(heads).first};
}

}  // namespace vkf
