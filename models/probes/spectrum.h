// Singular values of attention's weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vkf {

/// Share of the squared singular values that attention_statistics() and HeadStatistics ask of a rank.
inline constexpr double RANK_ENERGY = 0.9;

/// Element k: share of the sum of squared singular values that the k + 1 largest have. `weights` is a matrix by rows of
/// `columns` numbers; its singular values are computed in double precision.
std::vector<double> cumulative_energy(std::span<const float> weights, std::size_t columns);

/// The least k with energies[k − 1] ≥ share; 0 without energies.
std::int64_t rank_of(const std::vector<double>& energies, double share);

}  // namespace vkf
