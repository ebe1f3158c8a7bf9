// From when until when a graph's transient memory is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/plan.h"

namespace vkf {

/// The first and the last node that touches each value, and which storages lie in the memory of another one.
class Lifetimes {
public:
    /// Of what the live nodes make and read; outputs of the graph live until its end.
    Lifetimes(const Graph& graph, const LiveNodes& live);

    /// Where a storage lies: in itself or in another one, from some byte on.
    struct Home {
        std::size_t storage = 0;
        std::int64_t offset = 0;
    };
    Home home(std::size_t storage) const { return homes_[storage]; }
    bool used(std::size_t storage) const { return storages_[storage].first != never; }

    /// Lets outputs take over the memory of inputs that die at the node that makes them; or, where an output is a part
    /// of a larger storage, lets the input lie there from the beginning. Returns how many did.
    std::int64_t alias(const LiveNodes& live);

    /// The memory of a storage that is its own home, in `bytes`, a multiple of `alignment`, with all that lies in it:
    /// several blocks, joined, if its parts are needed at different times.
    std::vector<Block> blocks(std::size_t storage, std::int64_t bytes, std::int64_t alignment) const;

private:
    static constexpr std::size_t never = static_cast<std::size_t>(-1);

    struct Life {
        std::size_t first = never, last = 0;

        void join(const Life& other);
    };
    struct Span {
        std::int64_t begin = 0, end = 0;  // bytes
        Life life;
    };

    std::size_t storage(Tensor tensor) const { return graph_.value(tensor).storage; }
    /// The bytes that a value lies in, in its home; all of its storage's if it lies there in rows with gaps.
    Span span(std::size_t value) const;
    /// Those of all values that lie in a storage's memory.
    std::vector<Span> spans(std::size_t home) const;
    /// Whether a value is all that its storage holds.
    bool whole(Tensor tensor) const;
    /// Whether nobody touches the memory of what node `i` makes before that node.
    bool begins_at(std::size_t i, Tensor made) const;
    /// Lets an output of node `i` and a dying input share memory, if they can.
    bool share(std::size_t i, Tensor out, Tensor in);
    void move(std::size_t storage, Home to);
    void touch(Tensor tensor, std::size_t step);

    const Graph& graph_;
    std::vector<Life> values_, storages_;  // a storage's with all that lies in it
    std::vector<Home> homes_;
    std::vector<std::vector<std::size_t>> held_;  // by storage: the values in it and in those whose home it is
};

}  // namespace vkf
