// Text token by token: a language model that remembers the keys and values of what it has read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "models/language_model.h"
#include "program/program.h"

namespace vkf {

/// Programs over one set of weights and one cache: one decodes, a token at a time; others prefill in chunks of 2, 4, …
/// 256 tokens (built when first needed; the last chunk overlaps the one before it, so that none is padded).
///
/// When the context is full, its last half is read anew from position 0 and generation goes on. (nanoGPT
/// reads the last tokens of a whole context anew for every token from then on.)
class Generator {
public:
    /// Reserves the weights, which the caller then loads.
    Generator(Device& device, const ModelConfig& config, Format activations = Format::f32);

    State& state() { return state_; }
    const Parameters& parameters() const { return parameters_; }

    /// Forgets what was read and reads `tokens`, of which only those of a last context count. Returns
    /// the logits [V] of the token that follows. Throws InputError if there are none.
    std::vector<float> prefill(std::span<const std::int32_t> tokens);
    /// Reads one more token; the logits of the next.
    std::vector<float> decode(std::int32_t token);

    /// What lies in the cache, oldest first.
    const std::vector<std::int32_t>& context() const { return context_; }

private:
    struct PrefillChunk {
        Graph graph;
        std::optional<Program> program;
    };

    PrefillChunk& chunk(std::int64_t length);
    void run_chunk(std::span<const std::int32_t> tokens, std::int64_t position);

    Device& device_;
    ModelConfig config_;
    std::int64_t context_length_;
    Format activations_;
    State state_;
    Parameters parameters_;
    std::map<std::int64_t, std::unique_ptr<PrefillChunk>> chunks_;  // by tokens per run
    std::vector<std::int32_t> context_;
};

}  // namespace vkf
