// Singular values of attention's weights.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace vkf {

/// Share of the squared singular values that attention_statistics() and HeadStatistics ask of a rank.
inline constexpr double RANK_ENERGY = 0.9;

/// Element k: share of the sum of squared singular values that the k + 1 largest have.
std::vector<double> cumulative_energy(const Eigen::MatrixXd& weights);

/// The least k with energies[k − 1] ≥ share; 0 without energies.
std::int64_t rank_of(const std::vector<double>& energies, double share);

}  // namespace vkf
