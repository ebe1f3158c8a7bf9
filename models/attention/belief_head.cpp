// belief-head: each head's own perpendicular component, δ^s_{m,i} = o_{m,i} − (<o, v> / <v, v>) v (002 eq 15, alone).

#include "models/attention/attention.h"
#include "ops/project_out.h"

namespace vkf {

Signals belief_head(const Heads& heads) {
    return {project_out(heads.o, heads.v, heads.count, heads.kv_count)};
}

}  // namespace vkf
