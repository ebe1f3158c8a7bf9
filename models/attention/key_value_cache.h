// Keys and values of earlier positions, with which a model continues a text token by token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "models/scope.h"
#include "ops/attention/attention_mask.h"
#include "ops/movement/kv_cache.h"

namespace vkf {

/// Most tokens that one call may add to a cache that drops positions.
constexpr std::int64_t LONGEST_CACHED_CALL = 256;

/// A state in which a layer keeps one tensor, [B, positions, width].
struct CachedState {
    std::string name;            // its name in a cache of one row
    /// As many as the cache holds, fewer if no query sees earlier ones; 1 if the layer sums up what came before.
    std::int64_t positions = 1;
    std::int64_t width = 0;
    Format format = Format::f32;

    std::int64_t bytes_of_row() const { return bytes_of(positions * width, format); }
    /// The state of a cache of `rows` rows. Caches of one row and of several have different names and exist together.
    Tensor in(Graph& graph, std::int64_t rows) const;
};

/// Beams of a search: neighbouring rows of a cache that belong to one group.
struct CacheBeams {
    std::int64_t count = 1;  // rows of a group; 1: rows are independent
    /// i32 [B]: beam of the same group whose earlier positions a row takes over before this call's are appended.
    Tensor parents = {};
    Tensor filled = {};  // i32 [B / count]: number of these positions
};

/// A tensor that a layer takes from one call to the next, [B, …]: its value before this call, and its place.
class CarriedState {
public:
    CarriedState(Tensor state, Shape shape) : state_(state), shape_(std::move(shape)) {}

    Tensor value() const;
    /// Keeps `after` for the next call.
    void keep(Tensor after) const;

private:
    Tensor state_;  // [B, 1, width]
    Shape shape_;
};

/// Keys and values of earlier positions. They are states of the graph, and belong to the layers: a layer asks for its
/// own by append(), and the cache lists what layers asked for.
struct KeyValueCache {
    Tensor lengths;    // i32 [B]: filled positions of each row, including this call's tokens
    Tensor positions;  // i32 [T] or [B, T]: positions of this call's tokens
    std::int64_t capacity = 0;
    Format format = Format::f32;  // format of activations
    CacheBeams beams = {};
    std::vector<CachedState> states = {};  // what the layers keep, in their order

    /// Appends this call's keys [B, T, N·D] and values [B, T, N·D_V] to those of the layer at `scope`; returns those of
    /// all positions, [B, S, …], and sets mask.key_lengths to their number. S is `capacity`. If `mask` is causal and is
    /// a window, S may be smaller: then positions that no later query sees are dropped, and no position may be appended
    /// twice. Keys and values have the cache's format if D is even, else fp32: attention takes 16 bits only of an even
    /// width.
    KeysAndValues append(const Scope& scope, const KeysAndValues& fresh, std::int64_t head_width, AttentionMask& mask);

    /// The state [B, …] that the layer at `scope` kept in the last call, or `first` in a row's first call.
    CarriedState carry(const Scope& scope, Tensor first);

private:
    /// The layer's state, in the order of beams.
    Tensor state(const Scope& scope, CachedState kept, std::int64_t rows);
};

}  // namespace vkf
