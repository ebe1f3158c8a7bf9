#include "passes/group_matmuls.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ops/grouped_matmul.h"
#include "passes/uses.h"

namespace vkf {

namespace {

/// Whether nothing that the product takes beside a is made by a node.
bool takes_leaves(const Uses& uses, const Node& product) {
    for (std::size_t k = 1; k < product.in.size(); ++k)
        if (product.in[k] && uses.makers[product.in[k].id()]) return false;
    return true;
}

/// Groups the first products that can be; whether there were any. Nodes move.
bool group_some(Graph& graph) {
    const Uses uses(graph);
    std::map<GroupKey, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!uses.live[i] || !takes_leaves(uses, node)) continue;
        if (const auto key = group_key(node)) groups[*key].push_back(i);
    }
    for (auto& [key, places] : groups) {
        if (places.size() < 2) continue;
        places.resize(std::min(places.size(), most_grouped));
        std::vector<const Node*> products;
        for (const std::size_t place : places) products.push_back(&graph.nodes()[place]);
        graph.replace(places, places.front(), grouped(products));
        return true;
    }
    return false;
}

}  // namespace

void group_matmuls(Graph& graph) {
    while (group_some(graph)) {
    }
}

}  // namespace vkf
