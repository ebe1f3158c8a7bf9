#include "models/attention/attention_taps.h"

#include <algorithm>

#include "models/attention/attention_weights.h"
#include "models/attention/kind.h"
#include "models/layers.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// The rows of a batch that are watched, where each has so many positions: at least the first.
Tensor watched_rows(const Scope& scope, Tensor x, std::int64_t positions) {
    if (!x || scope.taps()->positions == 0) return x;
    const std::int64_t rows = std::max<std::int64_t>(1, scope.taps()->positions / positions);
    return x.shape()[0] > rows ? slice(x, 0, 0, rows) : x;
}

}  // namespace

std::vector<std::string> attention_tap_names() {
    std::vector<std::string> names;
    for (const std::string_view name : {tap::residual, tap::signal, tap::values, tap::attended, tap::attended_map,
                                        tap::perpendicular_map, tap::weights})
        names.emplace_back(name);
    return names;
}

void tap_attention(const AttentionContext& at, Tensor residual, Tensor signal, const AttentionTapMap& map) {
    const Scope& scope = at.scope;
    if (!scope.taps()) return;
    const auto part = [&](Tensor x) { return watched_rows(scope, x, at.q.shape()[1]); };
    scope.tap(tap::residual, [&] { return contiguous(part(residual)); });
    scope.tap(tap::signal, [&] { return contiguous(part(signal)); });
    if (at.config.variant().maps != 1) return;

    AttentionContext watched = at;
    watched.cache = nullptr;
    AttentionOptions& options = watched.options;
    options.dropout = 0;
    options.seed = {};
    QueriesKeysValues& others = watched.others;
    for (Tensor* x : {&watched.q, &watched.k, &watched.v, &others.q, &others.k, &others.v, &options.mask.query_lengths,
                      &options.mask.key_lengths})
        *x = part(*x);
    const auto attended = [&] { return watched.attended(); };
    const auto values = [&](Tensor o) {
        return match_heads(part(at.required_query_values()), o, options.value_heads());
    };
    const auto mapped = [&](Tensor x) {
        LinearOptions plain = map.options;
        plain.bias = false;
        return linear(scope / map.name, x, residual.width(), plain);
    };
    scope.tap(tap::values, [&] { return contiguous(values(signal)); });
    scope.tap(tap::attended, attended);
    scope.tap(tap::attended_map, [&] { return mapped(attended()); });
    scope.tap(tap::perpendicular_map, [&] {
        const Tensor o = attended();
        return mapped(project_out(o, values(o), 1));
    });
    if (!at.config.kind().attend)
        scope.tap(tap::weights, [&] { return attention_weights(watched.q, watched.k, options); });
}

void tap_output_map(const Scope& scope, Tensor signal, std::int64_t heads, std::int64_t out,
                    const AttentionTapMap& map) {
    scope.tap(tap::output_map, [&] {
        const Tensor weight = linear_weight(scope / map.name, signal.width(), out, map.options);
        const std::int64_t width = signal.width() / heads;
        return reshape(weight, map.options.out_in ? Shape{out, heads, width} : Shape{heads, width, out});
    });
}

void tap_cross_attention(const Scope& scope, Tensor q, Tensor k, Tensor o, const AttentionOptions& options) {
    if (!scope.taps()) return;
    AttentionOptions watched = options;
    const auto part = [&](Tensor x) { return watched_rows(scope, x, q.shape()[1]); };
    watched.mask.query_lengths = part(options.mask.query_lengths);
    watched.mask.key_lengths = part(options.mask.key_lengths);
    scope.tap(tap::cross_attended, [&] { return contiguous(part(o)); });
    scope.tap(tap::cross_weights, [&] { return attention_weights(part(q), part(k), watched); });
}

}  // namespace vkf
