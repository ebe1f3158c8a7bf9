// Products of one matrix of few rows, by one kernel.
#pragma once

#include <compare>
#include <cstddef>
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

/// How many there may be: an op describes 32 inputs (KernelTraits), of which two are each product's own.
constexpr std::size_t most_grouped = 15;

/// The node that computes what these products of one key do.
Node grouped(std::span<const Node* const> products);

}  // namespace vkf
