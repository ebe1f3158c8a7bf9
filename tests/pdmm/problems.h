// Problems for the tests of distributed optimisation.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "pdmm/problem.h"

namespace vkf::pdmm::test {

inline Matrix normal_matrix(Random& random, Eigen::Index rows, Eigen::Index columns) {
    Matrix made(rows, columns);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (Eigen::Index c = 0; c < columns; ++c) made(r, c) = random.normal();
    return made;
}

/// Least squares of more equations than variables, or logistic regression.
inline std::shared_ptr<const Cost> random_cost(Random& random, Eigen::Index dimension, bool logistic) {
    const Eigen::Index rows = 3 * dimension + 2;
    const Matrix a = normal_matrix(random, rows, dimension);
    const Vector y = normal_matrix(random, rows, 1);
    if (logistic) return logistic_cost(a, y.unaryExpr([](double x) { return x < 0 ? -1.0 : 1.0; }), 0.2);
    return quadratic_cost(0.3 * a, y);
}

inline Costs random_costs(std::size_t nodes, Eigen::Index dimension, bool logistic, std::uint64_t seed = 5) {
    Random random(seed, "costs");
    Costs costs;
    for (std::size_t i = 0; i < nodes; ++i) costs.push_back(random_cost(random, dimension, logistic));
    return costs;
}

/// Four nodes of 2, 3, 4 and 5 variables in a ring with a chord. Edges have one or two equations of random
/// coefficients, which random vectors satisfy.
inline Problem unequal_problem(bool logistic = false) {
    Random random(11, "unequal");
    const Graph graph(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}});
    Costs costs;
    std::vector<Vector> feasible;
    for (Eigen::Index d = 2; d <= 5; ++d) {
        costs.push_back(random_cost(random, d, logistic));
        feasible.push_back(normal_matrix(random, d, 1));
    }
    std::vector<EdgeConstraint> constraints;
    for (const Graph::Edge& edge : graph.edges()) {
        const Eigen::Index rows = 1 + static_cast<Eigen::Index>(constraints.size()) % 2;
        EdgeConstraint made{normal_matrix(random, rows, feasible[edge.i].size()),
                            normal_matrix(random, rows, feasible[edge.j].size()),
                            {}};
        made.b = made.a_ij * feasible[edge.i] + made.a_ji * feasible[edge.j];
        constraints.push_back(std::move(made));
    }
    return Problem(graph, std::move(costs), std::move(constraints));
}

/// Root of the summed squares of the differences, relative to that of the second.
inline double difference(const std::vector<Vector>& found, const std::vector<Vector>& wanted) {
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        apart += (found[i] - wanted[i]).squaredNorm();
        size += wanted[i].squaredNorm();
    }
    return std::sqrt(apart / size);
}

}  // namespace vkf::pdmm::test
