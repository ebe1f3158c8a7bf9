#include "models/attention/key_value_cache.h"

#include "base/error.h"

namespace vkf {

Tensor CachedState::in(Graph& graph, std::int64_t rows, std::int64_t capacity) const {
    const std::string named = rows == 1 ? name : text(name, " of ", rows);
    return graph.state(named, {DType::f32, {rows, capacity, width}}, format);
}

KeysAndValues KeyValueCache::append(const Scope& scope, const KeysAndValues& fresh, std::int64_t head_width) {
    const Tensor keys = keep(scope, "cached_keys", fresh.keys, head_width);
    const Tensor values = keep(scope, "cached_values", fresh.values, head_width);
    return kv_cache_append({keys, values}, fresh, lengths);
}

Tensor KeyValueCache::keep(const Scope& scope, std::string_view name, Tensor fresh, std::int64_t head_width) {
    states.push_back({.name = text(scope.path(), '.', name),
                      .width = fresh.width(),
                      .format = head_width % 2 == 0 ? format : Format::f32});
    const Tensor state = states.back().in(scope.graph(), fresh.shape()[0], capacity);
    return beams.count > 1 ? kv_cache_reorder(state, beams.parents, beams.filled, beams.count) : state;
}

}  // namespace vkf
