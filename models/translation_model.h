// Functions of all translation models: the loss of a batch of pairs, and the two programs that write targets.
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/key_value_cache.h"
#include "models/families/family.h"
#include "ops/loss/head_loss.h"

namespace vkf {

/// Shape of a batch of pairs: rows, and the room for a row's source and target.
struct PairShape {
    std::int64_t rows = 1, source = 1, target = 1;

    bool operator==(const PairShape&) const = default;
};

/// Vocabularies and marks of a model. Throws InputError if a mark is in no vocabulary.
TranslationTokens translation_tokens(const ModelConfig& config);

/// Logits [B, T, V] of the tokens after each target token.
Tensor translation_logits(const Scope& scope, const ModelConfig& config, const Sentences& source,
                          const Sentences& target);

/// Weights of cross-attention in a graph of one pair: for each layer that has it [1, heads, target, source], the share
/// of source position s in what is read when the token after target position t is written. Declares the inputs that
/// translation_loss() has, but `targets`.
std::vector<Tensor> cross_attention_weights(const Scope& scope, const ModelConfig& config, std::int64_t source,
                                            std::int64_t target);

/// Mean loss over the targets, i32 [B, T], that are not negative.
Tensor translation_loss(const Scope& scope, const ModelConfig& config, const Sentences& source, const Sentences& target,
                        Tensor targets, const LossTerms& terms = {});

/// The same of a micro-batch. Declares its inputs, i32: `source_tokens` [rows, source],
/// `tokens` and `targets` [rows, target], `source_lengths` and `target_lengths` [rows]. A row of length 0 is padding.
Tensor translation_loss(const Scope& scope, const ModelConfig& config, const PairShape& shape,
                        const LossTerms& terms = {});

/// Extents of the programs that write targets: `sources` at a time, `beams` rows for each, at most `source` tokens of a
/// source and `target` of a target.
struct WritingShape {
    std::int64_t sources = 1, beams = 1, source = 1, target = 1;

    std::int64_t rows() const { return sources * beams; }
    bool operator==(const WritingShape&) const = default;
};

/// Appends ops that read sources into the decoder's memory, which is kept in states. Inputs: `source_tokens`, i32
/// [sources, length], and `source_lengths`, i32 [sources]; `length` is at most shape.source.
void read_sources(const Scope& scope, const ModelConfig& config, const WritingShape& shape, std::int64_t length,
                  Format activations = Format::f32);

/// Appends ops that read one token of each row. Inputs, i32: `source_lengths` [sources]; `tokens` and `positions`
/// [rows, 1]; `lengths` [rows], the number of tokens then read in each row; and, with several beams, `parents` [rows],
/// the beam of the same source whose tokens before this one the row takes over, and `filled` [sources], the number of
/// these. Output: `logits` of the next tokens, [rows, 1, V].
void write_step(const Scope& scope, const ModelConfig& config, const WritingShape& shape,
                Format activations = Format::f32);

}  // namespace vkf
