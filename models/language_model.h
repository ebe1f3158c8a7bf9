// What all language models have in common: logits, the loss, and reading into a cache of keys and values.
#pragma once

#include <cstdint>

#include "models/data/dataset.h"
#include "models/family.h"

namespace vkf {

/// Keys and values of earlier positions, for generating token by token; states of the graph, one pair per layer.
struct KeyValueCache {
    Tensor length;     // i32 [1]: positions filled once this call's tokens are in
    Tensor positions;  // i32 [T]: where this call's tokens stand
    std::int64_t capacity = 0;
    Format format = Format::f32;  // what activations will be kept in

    /// What keys and values are kept in: attention takes 16 bits where heads are made of whole pairs.
    Format format_for(std::int64_t head_width) const { return head_width % 2 == 0 ? format : Format::f32; }
};

/// Logits [B, T, V] of tokens i32 [B, T]; `last_only` keeps only the last position's: [B, 1, V].
Tensor language_logits(const Scope& scope, const ModelConfig& config, Tensor tokens,
                       const KeyValueCache* cache = nullptr, bool last_only = false);

/// Mean cross-entropy of a micro-batch; declares its inputs `tokens` and `targets`, i32 [batch, length].
Tensor language_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, std::int64_t length);

/// What a model of this configuration learns from batches, for Batches::Options; empty: to tell the next token.
Objective language_objective(const ModelConfig& config);

/// Appends the reading of `length` tokens into the cache: inputs `tokens`, i32 [1, length], `positions`, i32 [length],
/// and `length`, i32 [1], the tokens then read in all; output `logits` of the token that follows. The cache is kept in
/// what `activations` will be.
void prefill_chunk(const Scope& scope, const ModelConfig& config, std::int64_t length,
                   Format activations = Format::f32);

/// Bytes of the cache of a whole context.
std::int64_t cache_bytes(const ModelConfig& config, Format activations);

}  // namespace vkf
