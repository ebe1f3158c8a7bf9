#include "models/probes/spectrum.h"

#include <Eigen/SVD>
#include <algorithm>

namespace vkf {

std::vector<double> cumulative_energy(std::span<const float> weights, std::size_t columns) {
    using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto rows = static_cast<Eigen::Index>(weights.size() / columns);
    const Eigen::Map<const Matrix> matrix(weights.data(), rows, static_cast<Eigen::Index>(columns));
    const Eigen::VectorXd values = Eigen::BDCSVD<Eigen::MatrixXd>(matrix.cast<double>()).singularValues();
    std::vector<double> energies;
    double sum = 0;
    for (const double value : values) energies.push_back((sum += value * value) / values.squaredNorm());
    return energies;
}

std::int64_t rank_of(const std::vector<double>& energies, double share) {
    // The last sum is 1 but for rounding errors.
    const auto found = std::ranges::find_if(energies, [&](double energy) { return energy >= share - 1e-12; });
    return energies.empty() ? 0 : std::min(found - energies.begin() + 1, std::ssize(energies));
}

}  // namespace vkf
