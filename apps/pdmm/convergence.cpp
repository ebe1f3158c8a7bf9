#include "apps/pdmm/convergence.h"

#include <chrono>
#include <cmath>

#include "base/random.h"

namespace vkf {

namespace {

using pdmm::Matrix;
using pdmm::Vector;

double relative_error(const std::vector<Vector>& x, const Vector& optimum) {
    double sum = 0;
    for (const Vector& each : x) sum += (each - optimum).squaredNorm();
    return std::sqrt(sum / (static_cast<double>(x.size()) * optimum.squaredNorm()));
}

Matrix normal_matrix(Random& random, Eigen::Index rows, Eigen::Index columns) {
    Matrix made(rows, columns);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (Eigen::Index c = 0; c < columns; ++c) made(r, c) = random.normal();
    return made;
}

}  // namespace

Convergence converge(pdmm::Network& network, const pdmm::Problem& problem, const Vector& optimum,
                     std::int64_t iterations, double tolerance, const std::function<void(std::int64_t)>& progress) {
    constexpr double DIVERGED = 1e6;
    const auto start = std::chrono::steady_clock::now();
    Convergence made;
    made.errors.push_back(relative_error(network.x(), optimum));
    for (std::int64_t k = 1; k <= iterations && made.errors.back() > tolerance && !made.diverged; ++k) {
        network.iterate();
        made.errors.push_back(relative_error(network.x(), optimum));
        made.diverged = !(made.errors.back() <= DIVERGED * made.errors.front());
        progress(k);
    }
    made.residual = problem.residual(network.x());
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return made;
}

pdmm::Costs random_costs(const std::string& kind, std::size_t nodes, Eigen::Index dimension, std::uint64_t seed) {
    constexpr double RIDGE = 0.1;
    const Eigen::Index rows = 4 * dimension;
    Random common(seed, "direction");
    const Vector direction = normal_matrix(common, dimension, 1);
    pdmm::Costs costs;
    for (std::size_t node = 0; node < nodes; ++node) {
        Random random(seed, "cost", node);
        const Matrix a = normal_matrix(random, rows, dimension);
        const Vector noise = normal_matrix(random, rows, 1);
        const double scale = 1 / std::sqrt(static_cast<double>(rows));
        if (kind == "quadratic")
            costs.push_back(pdmm::quadratic_cost(scale * a, scale * (a * direction + noise)));
        else
            costs.push_back(pdmm::logistic_cost(
                a, (a * direction + noise).unaryExpr([](double x) { return x < 0 ? -1.0 : 1.0; }), RIDGE));
    }
    return costs;
}

}  // namespace vkf
