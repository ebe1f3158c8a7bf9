// Makers and readers of the values of a finished graph, for the passes over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace vkf {

struct Uses {
    struct Maker {
        std::size_t node, output;
    };

    explicit Uses(const Graph& graph);

    /// True if one live node reads the value and there is no other use: no output, no view, no second reader.
    bool only_read_once(const Graph& graph, Tensor value) const {
        return readers[value.id()] == 1 && values_in[graph.value(value).storage].size() == 1;
    }

    /// True if the node could read the value: an input, or made by an earlier node, and never overwritten (no state).
    bool there_before(const Graph& graph, Tensor value, std::size_t node) const;

    std::vector<bool> live;                             // by node
    std::vector<int> readers;                           // by value, among live nodes and outputs
    std::vector<std::vector<std::uint32_t>> values_in;  // by storage: the values' numbers
    std::vector<std::optional<Maker>> makers;           // by value; none for inputs and states
};

}  // namespace vkf
