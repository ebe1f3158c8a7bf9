// Lifetimes of a graph's transient memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/plan.h"

namespace vkf {

/// The first and the last node that touches each value, and the storages that are placed in the memory of another one.
class Lifetimes {
public:
    /// Computes the lifetimes of all that live nodes make and read; outputs of the graph live until its end.
    Lifetimes(const Graph& graph, const LiveNodes& live);

    /// Place of a storage: the storage whose memory it uses, which may be itself, and the byte offset there.
    struct Home {
        std::size_t storage = 0;
        std::int64_t offset = 0;
    };
    Home home(std::size_t storage) const { return homes_[storage]; }
    bool used(std::size_t storage) const { return storages_[storage].first != never; }

    /// Gives outputs the memory of inputs that die at the node that makes the outputs. If an output is a part of a
    /// larger storage, places the input there from the beginning instead. Returns the number of outputs that share
    /// memory.
    std::int64_t alias(const LiveNodes& live);

    /// Blocks for the memory of a storage that is its own home, and for all that is placed in it; `bytes` is the size
    /// of the memory, a multiple of `alignment`. Several joined blocks if parts are needed at different times.
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
    /// Bytes of a value in its home; all bytes of its storage if the value has gaps between its rows.
    Span span(std::size_t value) const;
    /// Spans of all values in a storage's memory.
    std::vector<Span> spans(std::size_t home) const;
    /// True if the value fills its storage.
    bool whole(Tensor tensor) const;
    /// True if no node before node `i` touches the memory of its output `made`.
    bool begins_at(std::size_t i, Tensor made) const;
    /// Makes an output of node `i` and a dying input share memory, if they can.
    bool share(std::size_t i, Tensor out, Tensor in);
    void move(std::size_t storage, Home home);
    void touch(Tensor tensor, std::size_t step);

    const Graph& graph_;
    std::vector<Life> values_, storages_;  // a storage's life includes all that is placed in it
    std::vector<Home> homes_;
    std::vector<std::vector<std::size_t>> held_;  // by storage: values in it and in storages placed in it
};

}  // namespace vkf
