#include "passes/group_matmuls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ops/matmul/grouped_matmul.h"
#include "passes/uses.h"

namespace vkf {

namespace {

/// True if no node makes an operand of the product other than a.
bool takes_leaves(const Uses& uses, const Node& product) {
    for (std::size_t k = 1; k < product.in.size(); ++k)
        if (product.in[k] && uses.makers[product.in[k].id()]) return false;
    return true;
}

}  // namespace

void group_matmuls(Graph& graph) {
    const Uses uses(graph);
    std::map<GroupKey, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!uses.live[i] || !takes_leaves(uses, node)) continue;
        if (const auto key = group_key(node)) groups[*key].push_back(i);
    }
    std::vector<std::optional<Node>> nodes(graph.nodes().begin(), graph.nodes().end());
    for (const auto& [key, places] : groups)
        for (std::span rest(places); rest.size() > 1; rest = rest.subspan(std::min(rest.size(), most_grouped))) {
            std::vector<const Node*> products;
            for (const std::size_t place : rest.first(std::min(rest.size(), most_grouped)))
                products.push_back(&graph.nodes()[place]);
            for (std::size_t k = 0; k < products.size(); ++k) nodes[rest[k]].reset();
            nodes[rest.front()] = grouped(products);
        }
    graph.rewrite([&](std::size_t i, const Node&) { return std::move(nodes[i]); });
}

}  // namespace vkf
