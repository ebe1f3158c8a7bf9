#include "pdmm/problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace vkf::pdmm {

Problem::Problem(Graph graph, Costs costs, std::vector<EdgeConstraint> constraints)
    : graph_(std::move(graph)), costs_(std::move(costs)), constraints_(std::move(constraints)) {
    require(graph_.nodes() > 0, "a problem without nodes");
    require(costs_.size() == graph_.nodes(), graph_.nodes(), " nodes have ", costs_.size(), " costs");
    require(constraints_.size() == graph_.edges().size(), graph_.edges().size(), " edges have ", constraints_.size(),
            " constraints");
    for (std::size_t e = 0; e < constraints_.size(); ++e) {
        const auto& [a_ij, a_ji, b] = constraints_[e];
        const auto [i, j] = graph_.edges()[e];
        require(a_ij.rows() == b.size() && a_ji.rows() == b.size(), "edge ", i, '-', j, ": matrices of ", a_ij.rows(),
                " and ", a_ji.rows(), " rows for ", b.size(), " equations");
        require(a_ij.cols() == cost(i).dimension() && a_ji.cols() == cost(j).dimension(), "edge ", i, '-', j,
                ": matrices of ", a_ij.cols(), " and ", a_ji.cols(), " columns for nodes of dimensions ",
                cost(i).dimension(), " and ", cost(j).dimension());
    }
}

Curvature Problem::curvature() const {
    Curvature all = cost(0).curvature();
    for (const auto& each : costs_) {
        const Curvature one = each->curvature();
        all.convexity = std::min(all.convexity, one.convexity);
        all.smoothness = std::max(all.smoothness, one.smoothness);
    }
    return all;
}

double Problem::residual(const std::vector<Vector>& x) const {
    double sum = 0;
    for (std::size_t e = 0; e < constraints_.size(); ++e) {
        const auto& [a_ij, a_ji, b] = constraints_[e];
        const auto [i, j] = graph_.edges()[e];
        sum += (a_ij * x[i] + a_ji * x[j] - b).squaredNorm();
    }
    return std::sqrt(sum);
}

Problem consensus(Graph graph, Costs costs) {
    std::vector<EdgeConstraint> constraints;
    for (const Graph::Edge& edge : graph.edges()) {
        const Eigen::Index d = costs.at(edge.i)->dimension();
        constraints.push_back({Matrix::Identity(d, d), -Matrix::Identity(d, d), Vector::Zero(d)});
    }
    return Problem(std::move(graph), std::move(costs), std::move(constraints));
}

}  // namespace vkf::pdmm
