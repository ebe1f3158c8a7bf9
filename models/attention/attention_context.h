// Attention of one layer, as variants and kinds of attention see it: queries, keys, values, and the layer's settings.
#pragma once

#include "models/attention/attention_config.h"
#include "models/scope.h"
#include "ops/attention/attention_epilogue.h"

namespace vkf {

struct KeyValueCache;
struct LinearOptions;

/// Heads are next to each other in a row: q [B, T, M·D], k [B, T, N·D], v [B, T, N·D_V].
struct QueriesKeysValues {
    Tensor q, k, v;
};

/// Heads are next to each other in a row: M of queries, options.value_heads() of keys and values.
struct AttentionContext {
    Scope scope;          // of the layer, for parameters of its variant and kind; scope.layer() is the block's number
    Tensor q;             // [B, T, M·D]
    Tensor k, v;          // [B, S, N·D], [B, S, N·D_V]: all positions that are attended to, for instance a cache
    Tensor query_values;  // [B, T, N·D_V], the values at the queries' own positions; absent in cross-attention
    AttentionOptions options;
    const AttentionConfig& config;
    KeyValueCache* cache = nullptr;  // for kinds that keep a state of their own; their k and v are this call's
    Tensor input = {};               // [B, T, C], of which q, k and v are linear maps; absent in decoders
    const LinearOptions* input_map = nullptr;  // how they are
    QueriesKeysValues others = {};             // further maps of the input, for kinds that make them

    /// The result o of attention, [B, T, M·D_V], as the configuration's kind computes it.
    Tensor attended() const;
    /// discrepancy(o, query_values) and projections of o on query_values (ops/attention/attention_epilogue.h), the
    /// latter of whole rows, of each head, or both. o is not rounded to the format of activations before. Throw
    /// InputError naming the variant if there are no query_values: in cross-attention, queries and keys belong to
    /// different sequences, and no value stands at a query's position.
    Tensor discrepancy(float gamma, GammaOn on) const;
    Tensor project_out_rows() const;
    Tensor project_out_heads() const;
    Projections project_out_both() const;
    /// Returns query_values. Throws InputError as the functions above do.
    Tensor required_query_values() const;
};

}  // namespace vkf
