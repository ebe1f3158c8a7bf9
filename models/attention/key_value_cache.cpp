#include "models/attention/key_value_cache.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// Rows of a cache for texts of `capacity` positions that gets `fresh` positions at a time. A causal query that sees a
/// window sees no key before it but the global ones, so earlier keys may be dropped. They are dropped by
/// LONGEST_CACHED_CALL at a time: before the rows run out, the window of the first of as many fresh positions fits.
std::int64_t rows_needed(const AttentionMask& mask, std::int64_t capacity, std::int64_t fresh) {
    const bool window = mask.causal && mask.window_left && mask.block == 1;
    if (!window || mask.global_last > 0 || mask.random_blocks > 0 || fresh > LONGEST_CACHED_CALL) return capacity;
    return std::min(capacity, mask.global_first + *mask.window_left + 2 * LONGEST_CACHED_CALL);
}

}  // namespace

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

KeysAndValues KeyValueCache::append(const Scope& scope, const KeysAndValues& fresh, std::int64_t head_width,
                                    AttentionMask& mask) {
    const Format kept = head_width % 2 == 0 ? format : Format::f32;
    const std::int64_t batches = fresh.keys.shape()[0], length = fresh.keys.shape()[1];
    const std::int64_t rows = rows_needed(mask, capacity, length);
    const auto own = [&](std::string_view name, Tensor of) {
        return state(scope,
                     {.name = text(scope.path(), '.', name), .positions = rows, .width = of.width(), .format = kept},
                     batches);
    };
    KeysAndValues earlier{own("cached_keys", fresh.keys), own("cached_values", fresh.values)};
    mask.key_lengths = lengths;
    if (rows < capacity) {
        const RolledCache rolled =
            kv_cache_roll(earlier, lengths, {.first = mask.global_first, .step = LONGEST_CACHED_CALL}, length);
        earlier = rolled.cache;
        mask.key_lengths = rolled.lengths;
    }
    return kv_cache_append(earlier, fresh, mask.key_lengths);
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
