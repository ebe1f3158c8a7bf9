#include "pdmm/graph.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace vkf::pdmm {

Graph::Graph(std::size_t nodes, const std::vector<Edge>& edges) : neighbors_(nodes) {
    for (const Edge& edge : edges) {
        const auto [i, j] = std::minmax(edge.i, edge.j);
        require(i != j && j < nodes, "edge ", edge.i, '-', edge.j, ": wanted two of ", nodes, " nodes");
        for (const Neighbor& neighbor : neighbors_[i])
            require(neighbor.node != j, "edge ", i, '-', j, " is there twice");
        neighbors_[i].push_back({j, edges_.size(), neighbors_[j].size()});
        neighbors_[j].push_back({i, edges_.size(), neighbors_[i].size() - 1});
        edges_.push_back({i, j});
    }
}

bool Graph::connected() const {
    if (nodes() == 0) return true;
    std::vector<bool> found(nodes(), false);
    std::vector<std::size_t> open{0};
    found[0] = true;
    std::size_t count = 1;
    while (!open.empty()) {
        const std::size_t node = open.back();
        open.pop_back();
        for (const Neighbor& neighbor : neighbors_[node]) {
            if (found[neighbor.node]) continue;
            found[neighbor.node] = true;
            open.push_back(neighbor.node);
            ++count;
        }
    }
    return count == nodes();
}

Graph chain(std::size_t nodes) {
    return grid(1, nodes);
}

Graph ring(std::size_t nodes) {
    require(nodes >= 3, "a ring of ", nodes, " nodes: wanted at least 3");
    std::vector<Graph::Edge> edges = chain(nodes).edges();
    edges.push_back({0, nodes - 1});
    return Graph(nodes, edges);
}

Graph grid(std::size_t rows, std::size_t columns) {
    std::vector<Graph::Edge> edges;
    for (std::size_t node = 0; node < rows * columns; ++node) {
        if ((node + 1) % columns != 0) edges.push_back({node, node + 1});
        if (node + columns < rows * columns) edges.push_back({node, node + columns});
    }
    return Graph(rows * columns, edges);
}

Graph random_graph(std::size_t nodes, double edge_probability, std::uint64_t seed) {
    constexpr std::uint64_t DRAWS = 100;
    for (std::uint64_t draw = 0; draw < DRAWS; ++draw) {
        Random random(seed, "graph", draw);
        std::vector<Graph::Edge> edges;
        for (std::size_t i = 0; i < nodes; ++i)
            for (std::size_t j = i + 1; j < nodes; ++j)
                if (static_cast<double>(random.uniform()) < edge_probability) edges.push_back({i, j});
        Graph graph(nodes, edges);
        if (graph.connected()) return graph;
    }
    throw InputError("a random graph of ", nodes, " nodes with edge probability ", edge_probability, ": none of ",
                     DRAWS, " draws is connected");
}

}  // namespace vkf::pdmm
