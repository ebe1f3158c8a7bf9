// concat: sum and values each through a map of its own, ō_i W^o + v̄_i W^s (002 appendix C; parameters as belief-star).

#include "models/attention/attention.h"
#include "ops/repeat_heads.h"

namespace vkf {

Signals concat_values(const Heads& heads) {
    return {heads.o, repeat_heads(heads.v, heads.kv_count, heads.count / heads.kv_count)};
}

}  // namespace vkf
