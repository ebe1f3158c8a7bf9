// Text token by token: a GPT-2 that remembers the keys and values of what it has read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "models/gpt2.h"
#include "program/program.h"

namespace vkf {

/// Appends the reading of `length` tokens into the cache: inputs `tokens`, i32 [1, length], `positions`, i32 [length],
/// and `length`, i32 [1], the tokens then read in all; output `logits` of the token that follows. The cache is kept in
/// what `activations` will be.
void describe_reading(const Scope& scope, const Gpt2Config& config, std::int64_t length,
                      Format activations = Format::f32);

/// Programs over one set of weights and one cache: one reads a single token, others read a prompt in pieces of 2, 4, …
/// 256 tokens (built when first needed; the last piece overlaps the one before it, so no piece is padded).
///
/// When the context is full, its last half is read anew from position 0 and generation goes on. (nanoGPT
/// reads the last n_positions tokens anew for every token from then on.)
class Generator {
public:
    /// Reserves the weights, which the caller then loads.
    Generator(Device& device, const Gpt2Config& config, Format activations = Format::f32);

    State& state() { return state_; }
    const Parameters& parameters() const { return parameters_; }

    /// Forgets what was read and reads `tokens`, of which only the last n_positions count. Returns
    /// the logits [V] of the token that follows. Throws InputError if there are none.
    std::vector<float> start(std::span<const std::int32_t> tokens);
    /// Reads one more token; the logits of the next.
    std::vector<float> append(std::int32_t token);

    /// What lies in the cache, oldest first.
    const std::vector<std::int32_t>& context() const { return context_; }

private:
    struct Reader {
        Graph graph;
        std::optional<Program> program;
    };

    Reader& reader(std::int64_t length);
    void read(std::span<const std::int32_t> tokens, std::int64_t position);

    Device& device_;
    Gpt2Config config_;
    Format activations_;
    State state_;
    Parameters parameters_;
    std::map<std::int64_t, std::unique_ptr<Reader>> readers_;  // by tokens per run
    std::vector<std::int32_t> context_;
};

}  // namespace vkf
