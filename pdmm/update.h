// Updates of one node: from what the node gathered to its next vector. With multipliers λ and stepsize ρ, the node has
// gathered
//
//     s_i^k = Σ_j A_ijᵀ (λ_{j|i}^k − ρ A_ji x_j^k + ρ b_ij)
//
// from its neighbours j. BeliefFormer calls this step information aggregation and the update information fusion.
#pragma once

#include <cstdint>
#include <memory>

#include "pdmm/cost.h"

namespace vkf::pdmm {

class NodeUpdate {
public:
    virtual ~NodeUpdate() = default;

    /// x_i^{k+1} from s_i^k. The update may keep values of earlier iterations.
    virtual Vector next(const Vector& gathered) = 0;
};

/// Two ways to compute one update of QA-PDMM, equal but for rounding.
enum class QuadraticForm : std::uint8_t {
    solve,       // BeliefFormer, eq. 30 and the line before eq. 32
    difference,  // BeliefFormer, eq. 2 and 3, with eq. 2 as eq. 25 has it: A_ijᵀ stands before both terms
};

/// PDMM's update, BeliefFormer eq. 18: x_i^{k+1} = argmin f_i(x) + ½ xᵀ P x − xᵀ s_i^k, where P = ρ Σ_j A_ijᵀ A_ij.
/// `cost` outlives the update.
std::unique_ptr<NodeUpdate> exact_update(const Cost& cost, Matrix penalty, Vector x);

/// QA-PDMM's update: twice in an iteration, f_i is replaced by its quadratic approximation with second derivative η I.
/// With B_i = η I + P and x_i^{−½} = x_i^0,
///
///     x_i^{k+½} = B_i⁻¹ (η x_i^{k−½} + s_i^k − ∇f_i(x_i^{k−½}))
///     x_i^{k+1} = B_i⁻¹ (η x_i^{k+½} + s_i^k − ∇f_i(x_i^{k+½}))
///
/// or, as a transformer's layer, two residual connections, from the second iteration on:
///
///     x_i^{k+½} = x_i^k + B_i⁻¹ (s_i^k − s_i^{k−1})
///     x_i^{k+1} = x_i^{k+½} + B_i⁻¹ (η (x_i^{k+½} − x_i^{k−½}) − (∇f_i(x_i^{k+½}) − ∇f_i(x_i^{k−½})))
///
/// It converges for η ≥ max(L, L²/2m); see stable_eta(). `cost` outlives the update.
std::unique_ptr<NodeUpdate> quadratic_update(const Cost& cost, const Matrix& penalty, double eta, Vector x,
                                             QuadraticForm form);

/// max(L, L²/2m): the quadratic approximation is nowhere below f_i for η ≥ L, and BeliefFormer, eq. 20, asks for
/// η ≥ L²/2m.
double stable_eta(const Curvature& curvature);

}  // namespace vkf::pdmm
