// Several products of one matrix that has few rows, in one kernel.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "graph/graph.h"

namespace vkf {

/// Products with equal keys can be grouped.
struct GroupKey {
    std::uint32_t a;
    bool transpose_b, bias;

    auto operator<=>(const GroupKey&) const = default;
};

/// Key of a product of few rows, as in decoding, of the form a·op(b) + bias, op the identity or the transpose, with
/// optional bias; empty for other nodes.
std::optional<GroupKey> group_key(const Node& node);

/// Maximum number of products in a group: KernelTraits describes 32 inputs, and each product has two of its own.
constexpr std::size_t most_grouped = 15;

/// Node that computes these products, which have equal keys.
Node grouped(std::span<const Node* const> products);

}  // namespace vkf
