// Networks of nodes that minimise the sum of their costs by messages to their neighbours: PDMM, QA-PDMM and ADMM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "pdmm/problem.h"
#include "pdmm/update.h"

namespace vkf::pdmm {

enum class Method : std::uint8_t {
    pdmm,                // exact updates (BeliefFormer, eq. 18-19; AttentionX, eq. 2-3)
    qa_pdmm,             // updates by quadratic approximations, in the solve form
    qa_pdmm_difference,  // the same, in the difference form
    admm,                // exact updates, and messages that are averaged with those before
};

struct StepSizes {
    double rho = 1;  // weight of the constraints, > 0
    double eta = 1;  // second derivative of QA-PDMM's quadratic approximation, > 0
};

/// Order of updates and reliability of messages.
struct Communication {
    bool asynchronous = false;  // nodes are activated one at a time, at random; else all at once
    double loss = 0;            // probability that a message does not arrive
    std::uint64_t seed = 0;
};

/// State of all nodes. A node i that has gathered s_i (pdmm/update.h) computes x_i, then
///
///     λ_{i|j}^{k+1} = λ_{j|i}^k + ρ (b_ij − A_ji x_j^k − A_ij x_i^{k+1})       (BeliefFormer, eq. 4 and 19)
///
/// and sends every neighbour j one vector, μ_{i→j} = λ_{i|j} − ρ A_ij x_i + ρ b_ij, which is all that j's update reads
/// of i: s_j = Σ_i A_jiᵀ μ_{i→j}, and λ_{i|j}^{k+1} = μ_{j→i}^k − ρ A_ij x_i^{k+1}. A lost message leaves the one
/// before in place. PDMM is Peaceman and Rachford's splitting of the dual problem, and ADMM is Douglas and Rachford's:
/// it is PDMM with each arriving message replaced by the mean of it and the one before.
class Network {
public:
    /// Begins at x_i^0 = x[i], or 0 if x is empty, and λ^0 = 0. The problem outlives the network.
    Network(const Problem& problem, Method method, StepSizes steps, Communication communication = {},
            std::vector<Vector> x = {});

    /// Does one iteration: every node once, or, asynchronously, as many activations as there are nodes.
    void iterate();

    const std::vector<Vector>& x() const { return x_; }
    /// λ_{i|j}, where j is the neighbour with index `neighbor` of node i.
    const Vector& multiplier(std::size_t i, std::size_t neighbor) const { return multipliers_[i][neighbor]; }

private:
    using Messages = std::vector<Vector>;  // one per neighbour of a node

    /// Computes x_i and λ_{i|j}, and returns the messages of node i.
    Messages update(std::size_t i);
    void deliver(std::size_t i, const Messages& sent);

    const Problem& problem_;
    double rho_;
    double share_;  // of an arriving message; the rest is the one before
    Communication communication_;
    Random random_;
    std::vector<Vector> x_;
    std::vector<Messages> received_, multipliers_;
    std::vector<std::unique_ptr<NodeUpdate>> updates_;
};

}  // namespace vkf::pdmm
