// The batches drawn from tokens: a pure function of (seed, name, number).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "models/data/token_stream.h"

namespace vkf {

/// random: windows start anywhere, drawn with replacement; sequential: one window after the other.
enum class Order { random, sequential };

/// The words of --order.
/// Throws: InputError naming the word and the ones there are.
Order order_named(std::string_view word);

/// A micro-batch; targets are the tokens that follow.
/// Shapes: tokens, targets [B, T].
struct Batch {
    std::vector<std::int32_t> tokens, targets;
};

/// Makes of a batch of next tokens whatever else a model learns from text, such as words that it hides. A negative
/// target asks nothing.
using Objective = std::function<void(Batch&, Random&)>;

/// The micro-batches of one split, each found by its number, so that a run resumes from the number alone. A window and
/// its targets lie in one shard.
///
/// random: every place where a window may start is as likely as any other, a shard of N tokens having N − T; drawn
/// from the stream (seed, "batch/" + name, t).
///
/// sequential: in a single file, row b of micro-batch t starts at token ((t·B + b)·T) mod (N − T). Shards are read as
/// llm.c and modded-nanogpt do: each from its first token on as long as there are tokens for a whole update of
/// `together` micro-batches, (N − 1) / (together·B·T) updates; what is left of it is not read, and behind the last
/// shard comes the first one again.
///
/// Throws: InputError unless a shard has N > T, or tokens for an update; B ≥ 1 and T ≥ 1.
class Batches {
public:
    struct Options {
        Order order = Order::random;
        std::size_t rows = 1;    // B
        std::size_t length = 1;  // T
        std::uint64_t seed = 0;
        Objective objective = {};  // else to tell the next token; draws from (seed, "objective/" + name, t)
        std::size_t together = 1;  // micro-batches that are read from one shard in sequential order
    };

    Batches(std::string name, TokenStream tokens, const Options& options);

    /// First token of every row of micro-batch t.
    std::vector<std::size_t> starts(std::uint64_t t) const;

    /// Micro-batch t.
    Batch at(std::uint64_t t) const;

private:
    /// Whether shards are read by whole updates.
    bool by_updates() const { return options_.order == Order::sequential && tokens_.shards().size() > 1; }

    std::string name_;
    TokenStream tokens_;
    Options options_;
    Segments choices_;  // of each shard: where a window may start, or updates
};

}  // namespace vkf
