// Products of one matrix of few rows, by one kernel.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "graph/graph.h"

namespace vkf {

/// Which products can be grouped: those with equal ones.
struct GroupKey {
    std::uint32_t a;
    bool transpose_b, bias;

    auto operator<=>(const GroupKey&) const = default;
};

/// Set for a product of few rows, as in decoding, without anything but a bias: a·op(b) + bias, op the identity or the
/// transpose.
std::optional<GroupKey> group_key(const Node& node);

/// The node that computes what these products of one key do.
Node grouped(std::span<const Node* const> products);

}  // namespace vkf
