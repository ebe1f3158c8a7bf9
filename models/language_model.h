// What all language models have in common: logits, the loss, and reading into a cache of keys and values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/data/batches.h"
#include "models/family.h"

namespace vkf {

/// What a layer calls the states of its cache.
inline constexpr std::string_view CACHED_KEYS = "cached_keys", CACHED_VALUES = "cached_values";

/// Keys and values of earlier positions, for generating token by token; states of the graph, one pair per layer.
struct KeyValueCache {
    Tensor lengths;    // i32 [B]: positions filled of each row once this call's tokens are in
    Tensor positions;  // i32 [T] or [B, T]: where this call's tokens stand
    std::int64_t capacity = 0;
    Format format = Format::f32;  // what activations will be kept in

    /// What keys and values are kept in: attention takes 16 bits where heads are made of whole pairs.
    Format format_for(std::int64_t head_width) const { return head_width % 2 == 0 ? format : Format::f32; }
    /// What a layer's state is called. Of several rows it is another one than of a single row, and lies beside that.
    std::string state_name(std::string_view layer, std::string_view which) const;
};

/// Logits [B, T, V] of tokens i32 [B, T]; `last_only` keeps only the last position's: [B, 1, V].
Tensor language_logits(const Scope& scope, const ModelConfig& config, Tensor tokens,
                       const KeyValueCache* cache = nullptr, bool last_only = false);

/// Mean cross-entropy of a micro-batch; declares its inputs `tokens` and `targets`, i32 [batch, length].
Tensor language_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, std::int64_t length);

/// What a model of this configuration learns from batches, for Batches::Options; empty: to tell the next token.
Objective language_objective(const ModelConfig& config);

/// Appends the reading of `length` tokens of each row into the cache: inputs `tokens`, i32 [rows, length], `positions`,
/// i32 [length] or, of several rows, [rows, length], and `lengths`, i32 [rows], the tokens then read in all of each
/// row; output `logits` of the tokens that follow, [rows, 1, V]. A row of length 0 stores nothing and sees nothing. The
/// cache is kept in what `activations` will be, and has room for `capacity` positions (0: a whole context).
void prefill_chunk(const Scope& scope, const ModelConfig& config, std::int64_t length, Format activations = Format::f32,
                   std::int64_t rows = 1, std::int64_t capacity = 0);

/// Appends the same of one token of each row, and the drawing of the one that follows: inputs `sampling` and `seen` as
/// `sample` (ops/sample.h) takes them, and its outputs `drawn` and `probabilities` instead of the logits.
void decode_step(const Scope& scope, const ModelConfig& config, Format activations = Format::f32, std::int64_t rows = 1,
                 std::int64_t capacity = 0);

/// Appends copies of a single row's cache, which `one` reads into, to a row of the cache of several: input `place`, i32
/// [2], of the row and how many positions are filled.
void copy_cache_row(Graph& graph, const Graph& one, std::int64_t rows);

/// Bytes of the cache of a whole context, of one row.
std::int64_t cache_bytes(const ModelConfig& config, Format activations);

}  // namespace vkf
