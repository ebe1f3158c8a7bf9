// Convergence of distributed methods on one problem.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pdmm/network.h"

namespace vkf {

struct Convergence {
    std::vector<double> errors;  // after k iterations: root of Σ_i ‖x_i − x*‖² / Σ_i ‖x*‖²
    double residual = 0;         // Problem::residual() at the end
    bool diverged = false;       // the last error is not a number, or a million times the first
    double seconds = 0;
};

/// Iterates until the error is at most the tolerance, or so many times; calls `progress` with the number of iterations
/// after each. Ends early if the method diverges.
Convergence converge(pdmm::Network& network, const pdmm::Problem& problem, const pdmm::Vector& optimum,
                     std::int64_t iterations, double tolerance, const std::function<void(std::int64_t)>& progress);

/// Random costs, one per node. A quadratic cost has 4·dimension equations with normal coefficients; a logistic cost has
/// 4·dimension points, whose labels a common direction and noise decide, and a ridge of 0.1.
pdmm::Costs random_costs(const std::string& kind, std::size_t nodes, Eigen::Index dimension, std::uint64_t seed);

}  // namespace vkf
