#include "models/attention/key_value_cache.h"

#include <utility>

#include "base/error.h"
#include "ops/movement/view.h"

namespace vkf {

Tensor CachedState::in(Graph& graph, std::int64_t rows) const {
    const std::string named = rows == 1 ? name : text(name, " of ", rows);
    return graph.state(named, {DType::f32, {rows, positions, width}}, format);
}

Tensor CarriedState::value() const {
    return reshape(state_, shape_);
}

void CarriedState::keep(Tensor after) const {
    const std::vector<std::int32_t> one{1};
    kv_cache_append(state_, reshape(after, state_.shape()), state_.graph().constant({1}, one));
}

KeysAndValues KeyValueCache::append(const Scope& scope, const KeysAndValues& fresh, std::int64_t head_width) {
    const Format kept = head_width % 2 == 0 ? format : Format::f32;
    const auto own = [&](std::string_view name, Tensor rows) {
        return state(
            scope,
            {.name = text(scope.path(), '.', name), .positions = capacity, .width = rows.width(), .format = kept},
            rows.shape()[0]);
    };
    const Tensor keys = own("cached_keys", fresh.keys), values = own("cached_values", fresh.values);
    return kv_cache_append({keys, values}, fresh, lengths);
}

CarriedState KeyValueCache::carry(const Scope& scope, Tensor first) {
    const std::int64_t rows = first.shape()[0], width = first.elements() / rows;
    const Tensor kept = state(scope, {.name = scope.path(), .width = width}, rows);
    // A state has one position. The first value belongs there in a row's first call, whose first token has position 0;
    // later it would be outside, and is not stored.
    const std::int64_t others = positions.width() - 1;
    return {kv_cache_append(kept, reshape(first, {rows, 1, width}), lengths, others), first.shape()};
}

Tensor KeyValueCache::state(const Scope& scope, CachedState kept, std::int64_t rows) {
    states.push_back(std::move(kept));
    const Tensor made = states.back().in(scope.graph(), rows);
    return beams.count > 1 ? kv_cache_reorder(made, beams.parents, beams.filled, beams.count) : made;
}

}  // namespace vkf
