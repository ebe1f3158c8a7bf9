// Functions of all language models: logits, the loss, and reading into a cache of keys and values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/attention/key_value_cache.h"
#include "models/data/batches.h"
#include "models/families/family.h"
#include "ops/loss/head_loss.h"

namespace vkf {

/// Logits [B, T, V] of tokens i32 [B, T]; `last_only` keeps only the last position's: [B, 1, V].
Tensor language_logits(const Scope& scope, const ModelConfig& config, Tensor tokens, KeyValueCache* cache = nullptr,
                       bool last_only = false);

/// Mean loss of a micro-batch; declares its inputs `tokens` and `targets`, i32 [batch, length].
Tensor language_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, std::int64_t length,
                     const LossTerms& terms = {});

/// As language_loss without terms, for evaluations. If the model has an objective, also declares the output
/// `likeliest`, i32 [batch, length]: the likeliest token at each position, of which a share is right.
Tensor language_evaluation(const Scope& scope, const ModelConfig& config, std::int64_t batch, std::int64_t length);

/// Training objective of a model of this configuration, for Batches::Options; empty: the next token. `special` lists
/// the tokens that stand for no text.
Objective language_objective(const ModelConfig& config, std::vector<std::int32_t> special = {});

/// Appends ops that read `length` tokens of each row into the cache. Inputs: `tokens`, i32 [rows, length]; `positions`,
/// i32 [length] or, for several rows, [rows, length]; `lengths`, i32 [rows], the total of tokens then read in each row.
/// Output: `logits` of the next tokens, [rows, 1, V]. A row of length 0 stores nothing and sees nothing. The cache has
/// the format `activations` and room for `capacity` positions (0: a whole context).
void prefill_chunk(const Scope& scope, const ModelConfig& config, std::int64_t length, Format activations = Format::f32,
                   std::int64_t rows = 1, std::int64_t capacity = 0);

/// Appends ops that read one token of each row, with the inputs of prefill_chunk, and draw the next: inputs `sampling`
/// and `seen`, outputs `drawn` and `probabilities` of `sample` (ops/sampling/sample.h) instead of the logits.
void decode_step(const Scope& scope, const ModelConfig& config, Format activations = Format::f32, std::int64_t rows = 1,
                 std::int64_t capacity = 0);

/// Appends copies of the cache of a single row, which prefill_chunk fills, to a row of the cache of several: input
/// `place`, i32 [2], is the row and the number of filled positions.
void copy_cache_row(Graph& graph, const ModelConfig& config, Format activations, std::int64_t rows);

/// False if a cache of a whole context drops positions or sums them up: then no position may be read into it twice.
bool cache_keeps_positions(const ModelConfig& config);

/// Bytes of the cache of one row with a whole context.
std::int64_t cache_bytes(const ModelConfig& config, Format activations);

}  // namespace vkf
