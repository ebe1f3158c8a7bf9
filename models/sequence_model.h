// Functions of all sequence classifiers: logits of the classes of whole sequences, and the loss.
#pragma once

#include <cstdint>

#include "models/families/family.h"
#include "ops/loss/head_loss.h"

namespace vkf {

/// Shape of a batch of sequences: rows, and the room for a row's tokens.
struct SequenceShape {
    std::int64_t rows = 1, length = 1;

    bool operator==(const SequenceShape&) const = default;
};

/// Logits [B, classes] of sequences: tokens i32 [B, T], of which lengths[b] of row b count. A sequence has the logits
/// that it has alone, however far it is padded.
Tensor sequence_logits(const Scope& scope, const ModelConfig& config, const Sentences& sequences);

/// Mean loss over the targets, classes i32 [B], that are not negative.
Tensor sequence_loss(const Scope& scope, const ModelConfig& config, const Sentences& sequences, Tensor targets,
                     const LossTerms& terms = {});

/// The same of a micro-batch. Declares its inputs, i32: `tokens` [rows, length], `lengths` and `targets` [rows], the
/// classes. A row of length 0 is padding.
Tensor sequence_loss(const Scope& scope, const ModelConfig& config, const SequenceShape& shape,
                     const LossTerms& terms = {});

/// As sequence_loss without terms, for evaluations. Declares the output `likeliest`, i32 [rows]: the likeliest class.
Tensor sequence_evaluation(const Scope& scope, const ModelConfig& config, const SequenceShape& shape);

}  // namespace vkf
