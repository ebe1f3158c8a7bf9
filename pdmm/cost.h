// Costs of nodes: convex functions whose sum a network minimises.
#pragma once

#include <memory>
#include <vector>

#include "pdmm/vectors.h"

namespace vkf::pdmm {

/// Bounds of a cost's second derivative: convexity·I ≼ ∇²f(x) ≼ smoothness·I for every x (m and L of BeliefFormer,
/// Assumption 1).
struct Curvature {
    double convexity = 0, smoothness = 0;
};

/// Convex function f: R^d → R that has two derivatives.
class Cost {
public:
    virtual ~Cost() = default;

    virtual Eigen::Index dimension() const = 0;
    virtual double value(const Vector& x) const = 0;
    virtual Vector gradient(const Vector& x) const = 0;
    virtual Matrix hessian(const Vector& x) const = 0;
    virtual Curvature curvature() const = 0;
};

using Costs = std::vector<std::shared_ptr<const Cost>>;  // one per node

/// f(x) = ½ ‖C x − y‖² (least squares). C has at least as many rows as columns.
std::shared_ptr<const Cost> quadratic_cost(Matrix c, Vector y);

/// f(x) = mean_n log(1 + exp(−y_n a_nᵀ x)) + ½ ridge ‖x‖² (logistic regression), with rows a_n of A and labels y_n =
/// ±1.
std::shared_ptr<const Cost> logistic_cost(Matrix a, Vector y, double ridge);

/// f(x) = Σ_i f_i(x). The costs have one dimension.
std::shared_ptr<const Cost> sum_of(Costs costs);

/// argmin_x f(x) + ½ xᵀ P x − sᵀ x by Newton's method with backtracking (Boyd and Vandenberghe, Convex Optimization,
/// algorithm 9.5), from `start`. ∇²f + P is positive definite.
Vector minimizer(const Cost& f, const Matrix& p, const Vector& s, const Vector& start);

}  // namespace vkf::pdmm
