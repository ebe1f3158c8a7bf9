// The problem that a network solves: minimise Σ_i f_i(x_i) subject to A_ij x_i + A_ji x_j = b_ij for every edge (i, j)
// (BeliefFormer, eq. 1; AttentionX, eq. 1).
#pragma once

#include <vector>

#include "pdmm/cost.h"
#include "pdmm/graph.h"

namespace vkf::pdmm {

/// Constraint A_ij x_i + A_ji x_j = b_ij of one edge (i, j), i < j. A_ij is [d_ij, d_i], A_ji is [d_ij, d_j].
struct EdgeConstraint {
    Matrix a_ij, a_ji;
    Vector b;
};

class Problem {
public:
    /// Throws InputError unless there is one cost per node and one constraint per edge, of matching sizes.
    Problem(Graph graph, Costs costs, std::vector<EdgeConstraint> constraints);

    const Graph& graph() const { return graph_; }
    const Cost& cost(std::size_t node) const { return *costs_[node]; }
    /// The edge's matrix for its end `node`.
    const Matrix& a(std::size_t edge, std::size_t node) const {
        return graph_.edges()[edge].i == node ? constraints_[edge].a_ij : constraints_[edge].a_ji;
    }
    const Vector& b(std::size_t edge) const { return constraints_[edge].b; }

    /// Smallest convexity and largest smoothness of the nodes' costs.
    Curvature curvature() const;
    /// Root of Σ ‖A_ij x_i + A_ji x_j − b_ij‖² over all edges.
    double residual(const std::vector<Vector>& x) const;

private:
    Graph graph_;
    Costs costs_;
    std::vector<EdgeConstraint> constraints_;
};

/// Problem in which neighbours must agree: A_ij = I, A_ji = −I, b_ij = 0. On a connected graph its solution is the
/// minimum of the sum of all costs.
Problem consensus(Graph graph, Costs costs);

}  // namespace vkf::pdmm
