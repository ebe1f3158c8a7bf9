// belief-star: belief through W^o plus the per-head projection through a map of its own, δ_i W^o + δ^s_i W^s (002 eq
// 15-17).

#include "models/attention/attention.h"
#include "ops/project_out.h"

namespace vkf {

Signals belief_star(const Heads& heads) {
    const Projections left = project_out_both(heads.o, heads.v, heads.count, heads.kv_count);
    return {left.rows, left.heads};
}

}  // namespace vkf
