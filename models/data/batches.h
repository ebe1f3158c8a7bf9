// Batches drawn from tokens: a pure function of (seed, name, number).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "models/data/batch.h"
#include "models/data/text/token_stream.h"

namespace vkf {

/// random: windows start anywhere, drawn with replacement; sequential: one window after the other.
enum class Order { random, sequential };

/// Parses a value of --order.
/// Throws: InputError naming the word and the known ones.
Order order_named(std::string_view word);

/// Turns a batch of next-token targets into another objective, such as predicting hidden words: changes tokens and
/// targets, or adds values of further inputs that the loss has.
using Objective = std::function<void(Batch&, Random&)>;

/// Micro-batches of one split: tokens [B, T], and as targets the tokens that follow. Each is found by its number, so
/// that a run resumes from the number alone. A window and its targets are in one shard.
///
/// random: every window start has the same probability; a shard of N tokens has N − T of them. They are drawn from the
/// stream (seed, "batch/" + name, t).
///
/// sequential: in a single file, row b of micro-batch t starts at token ((t·B + b)·T) mod (N − T). Shards are read as
/// in llm.c and modded-nanogpt: each from its first token, for (N − 1) / (together·B·T) whole updates of `together`
/// micro-batches. The remaining tokens of a shard are not read. After the last shard the first one follows again.
///
/// Throws: InputError unless a shard has N > T, or tokens for an update; B ≥ 1 and T ≥ 1.
class Batches {
public:
    struct Options {
        Order order = Order::random;
        std::size_t rows = 1;    // B
        std::size_t length = 1;  // T
        std::uint64_t seed = 0;
        Objective objective = {};  // default: next token; draws from (seed, "objective/" + name, t)
        std::size_t together = 1;  // micro-batches that are read from one shard in sequential order
    };

    Batches(std::string name, TokenStream tokens, const Options& options);

    /// First token of every row of micro-batch t.
    std::vector<std::size_t> starts(std::uint64_t t) const;

    /// Micro-batch t.
    Batch at(std::uint64_t t) const;

private:
    /// True if shards are read by whole updates.
    bool by_updates() const { return options_.order == Order::sequential && tokens_.shards().size() > 1; }

    std::string name_;
    TokenStream tokens_;
    Options options_;
    Segments choices_;  // per shard: number of window starts, or of updates
};

}  // namespace vkf
