// Text token by token: a language model with a cache of the keys and values of tokens that it has read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "models/language_model.h"
#include "ops/sampling/sample.h"
#include "program/compiled_graph.h"

namespace vkf {

/// Tokens of the longest part of a prompt of so many tokens that a Generator reads at once: a power of two up to 256.
std::int64_t longest_chunk(std::int64_t tokens);

struct GeneratorOptions {
    Format activations = Format::f32;
    std::int64_t rows = 1;  // texts that are written at once
};

/// Next token of a row, and the parameters for drawing the token after it.
struct NextToken {
    std::int64_t row = 0;
    std::int32_t token = 0;
    SampleRow how = {};
    std::span<const std::int32_t> seen = {};  // as `sample_token` takes it, if seen tokens are penalised
};

/// Programs over one set of weights. One text is read and written in a cache of one row: one program decodes, a token
/// at a time, and draws the next; others prefill in chunks of 2, 4, … 256 tokens (built when first needed; the last
/// chunk overlaps the chunk before it, so that no chunk is padded, unless the cache drops positions). Several rows have
/// an additional cache, in which one program decodes a token of each row at a time; prompts are read in the cache of
/// one row and copied. So a row's tokens are the same as those of the text alone: prefilling is the same, and up to
/// four rows are decoded to the same bits. For more rows, products are computed by other kernels, which add in another
/// order.
///
/// When the cache of a row is full, its last half is read again from position 0 and generation continues. (nanoGPT
/// then reads the last tokens of a whole context again for every token.)
class Generator {
public:
    /// Reserves the weights, which the caller then loads.
    Generator(Device& device, const ModelConfig& config, const GeneratorOptions& options = {});

    State& state() { return state_; }
    const Parameters& parameters() const { return parameters_; }
    std::int64_t rows() const { return std::ssize(contexts_); }
    /// Number of tokens that a row has room for.
    std::int64_t context_length() const { return context_length_; }

    /// Clears a row and reads `tokens`; if there are more than context_length(), reads only the last ones. Returns the
    /// logits [V] of the next token. Throws InputError if there are no tokens.
    std::vector<float> prefill(std::span<const std::int32_t> tokens, std::int64_t row = 0);
    /// Tokens of the last prefill; repeat_prefill() copies them into another row without reading them again.
    const std::vector<std::int32_t>& prefilled() const { return prefilled_; }
    std::vector<float> repeat_prefill(std::int64_t row);
    /// Reads more tokens into the only row, after those it has. Throws InputError if there is no room for them.
    std::vector<float> extend(std::span<const std::int32_t> tokens);
    /// Reads one more token into the only row; returns the logits of the next.
    std::vector<float> decode(std::int32_t token);
    /// Reads one more token into each given row, and draws the tokens after them, in the same order. Draws on the
    /// device, where logits stay, except for a full row, which is read again.
    std::vector<SampledToken> decode(std::span<const NextToken> tokens);

    /// Tokens in a row's cache, oldest first.
    const std::vector<std::int32_t>& context(std::int64_t row = 0) const { return contexts_.at(index(row)); }

private:
    static std::size_t index(std::int64_t row) { return static_cast<std::size_t>(row); }
    CompiledGraph& chunk(std::int64_t length);
    std::size_t seen_width() const;
    std::unique_ptr<CompiledGraph> compile(const std::function<void(const Scope&)>& build);
    /// Reads tokens in the cache of one row, from a position on.
    std::vector<float> read(std::span<const std::int32_t> tokens, std::int64_t position);
    void run_chunk(std::span<const std::int32_t> tokens, std::int64_t position);
    void copy_to(std::int64_t row);
    std::vector<float> slide(std::int64_t row);

    Device& device_;
    ModelConfig config_;
    std::int64_t context_length_;
    bool keeps_positions_;
    Format activations_;
    State state_;
    Parameters parameters_;
    std::map<std::int64_t, std::unique_ptr<CompiledGraph>> chunks_;  // by tokens per run
    std::unique_ptr<CompiledGraph> decoder_, copy_;                  // copy_ only if there are several rows
    std::vector<std::vector<std::int32_t>> contexts_;                // by row
    std::vector<std::int32_t> prefilled_;
    std::vector<float> prefilled_logits_;
};

}  // namespace vkf
