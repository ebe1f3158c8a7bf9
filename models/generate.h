// Text token by token: a language model that remembers the keys and values of what it has read.
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
#include "ops/sample.h"
#include "program/program.h"

namespace vkf {

struct GeneratorOptions {
    Format activations = Format::f32;
    std::int64_t rows = 1;  // texts that are written at once
};

/// The token that comes next in a row, and how the one that follows it is drawn.
struct NextToken {
    std::int64_t row = 0;
    std::int32_t token = 0;
    SampleRow how = {};
    std::span<const std::int32_t> seen = {};  // as `sample_token` takes it, if tokens that are seen count less
};

/// Programs over one set of weights. One text is read and written in a cache of one row: one program decodes, a token
/// at a time, and draws the next; others prefill in chunks of 2, 4, … 256 tokens (built when first needed; the last
/// chunk overlaps the one before it, so that none is padded). Several rows have a cache of their own beside it, which
/// one program decodes in, a token of each row at a time; what they begin with is read in the cache of one row and
/// copied. So a row's tokens are those of the text alone: prefilling is the same, and up to four rows are decoded to
/// the same bits. Of more, products are computed by other kernels, which add in another order.
///
/// When the cache of a row is full, its last half is read anew from position 0 and generation goes on. (nanoGPT
/// reads the last tokens of a whole context anew for every token from then on.)
class Generator {
public:
    /// Reserves the weights, which the caller then loads.
    Generator(Device& device, const ModelConfig& config, const GeneratorOptions& options = {});

    State& state() { return state_; }
    const Parameters& parameters() const { return parameters_; }
    std::int64_t rows() const { return std::ssize(contexts_); }
    /// Tokens that a row has room for.
    std::int64_t context_length() const { return context_length_; }

    /// Lets a row forget what it has read and read `tokens`, of which only the last count if there are more than it has
    /// room for. Returns the logits [V] of the token that follows. Throws InputError if there are none.
    std::vector<float> prefill(std::span<const std::int32_t> tokens, std::int64_t row = 0);
    /// What the last prefill read, and the same for another row without reading it again.
    const std::vector<std::int32_t>& prefilled() const { return prefilled_; }
    std::vector<float> repeat_prefill(std::int64_t row);
    /// Lets the only row read more, behind what it has read. Throws InputError if there is no room for them.
    std::vector<float> extend(std::span<const std::int32_t> tokens);
    /// Reads one more token of the only row; the logits of the next.
    std::vector<float> decode(std::int32_t token);
    /// Reads one more token of each of some rows, and draws those that come next, in that order: on the device, so that
    /// logits stay there, but where a full row is read anew.
    std::vector<SampledToken> decode(std::span<const NextToken> tokens);

    /// What lies in a row's cache, oldest first.
    const std::vector<std::int32_t>& context(std::int64_t row = 0) const { return contexts_.at(index(row)); }

private:
    struct CompiledGraph {
        Graph graph;
        std::optional<Program> program;
    };

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
    Format activations_;
    State state_;
    Parameters parameters_;
    std::map<std::int64_t, std::unique_ptr<CompiledGraph>> chunks_;  // by tokens per run
    std::unique_ptr<CompiledGraph> decoder_, copy_;                  // the latter if there are several rows
    std::vector<std::vector<std::int32_t>> contexts_;                // by row
    std::vector<std::int32_t> prefilled_;
    std::vector<float> prefilled_logits_;
};

}  // namespace vkf
