// Undirected graphs of nodes that exchange messages along edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vkf::pdmm {

/// Undirected graph without loops and without double edges. Nodes have the numbers 0 … nodes() − 1.
class Graph {
public:
    struct Edge {
        std::size_t i, j;  // i < j
    };
    /// One end of an edge, seen from the other end.
    struct Neighbor {
        std::size_t node;
        std::size_t edge;  // number of the edge
        std::size_t back;  // index of this end among the neighbours of `node`
    };

    /// Throws InputError for an edge that is a loop, is there twice, or has an end that is no node.
    Graph(std::size_t nodes, const std::vector<Edge>& edges);

    std::size_t nodes() const { return neighbors_.size(); }
    const std::vector<Edge>& edges() const { return edges_; }
    const std::vector<Neighbor>& neighbors(std::size_t node) const { return neighbors_[node]; }
    /// True if a path leads from every node to every other.
    bool connected() const;

private:
    std::vector<Edge> edges_;
    std::vector<std::vector<Neighbor>> neighbors_;
};

/// Nodes in a row, each connected with the next.
Graph chain(std::size_t nodes);
/// A chain whose last node is also connected with the first. Throws InputError for fewer than three nodes.
Graph ring(std::size_t nodes);
/// Nodes in rows and columns, each connected with the next in its row and in its column.
Graph grid(std::size_t rows, std::size_t columns);
/// Every pair of nodes is connected with the same probability (Gilbert's model), given that the graph is connected.
/// Throws InputError if none of 100 draws is connected.
Graph random_graph(std::size_t nodes, double edge_probability, std::uint64_t seed);

}  // namespace vkf::pdmm
