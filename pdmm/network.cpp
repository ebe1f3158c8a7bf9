#include "pdmm/network.h"

#include <utility>

#include "base/error.h"

namespace vkf::pdmm {

Network::Network(const Problem& problem, Method method, StepSizes steps, Communication communication,
                 std::vector<Vector> x)
    : problem_(problem),
      rho_(steps.rho),
      share_(method == Method::admm ? 0.5 : 1.0),
      communication_(communication),
      random_(communication.seed, "communication"),
      x_(std::move(x)),
      received_(problem.graph().nodes()),
      multipliers_(problem.graph().nodes()) {
    require(steps.rho > 0 && steps.eta > 0, "stepsizes rho ", steps.rho, " and eta ", steps.eta, ": wanted above 0");
    const std::size_t nodes = problem.graph().nodes();
    if (x_.empty())
        for (std::size_t i = 0; i < nodes; ++i) x_.push_back(Vector::Zero(problem.cost(i).dimension()));
    require(x_.size() == nodes, nodes, " nodes begin at ", x_.size(), " vectors");
    for (std::size_t i = 0; i < nodes; ++i) {
        Matrix penalty = Matrix::Zero(x_[i].size(), x_[i].size());
        for (const Graph::Neighbor& j : problem.graph().neighbors(i)) {
            const Matrix& a_ij = problem.a(j.edge, i);
            penalty += rho_ * a_ij.transpose() * a_ij;
            received_[i].push_back(rho_ * (problem.b(j.edge) - problem.a(j.edge, j.node) * x_[j.node]));
            multipliers_[i].push_back(Vector::Zero(problem.b(j.edge).size()));
        }
        const Cost& cost = problem.cost(i);
        if (method == Method::pdmm || method == Method::admm)
            updates_.push_back(exact_update(cost, std::move(penalty), x_[i]));
        else
            updates_.push_back(
                quadratic_update(cost, penalty, steps.eta, x_[i],
                                 method == Method::qa_pdmm ? QuadraticForm::solve : QuadraticForm::difference));
    }
}

Network::Messages Network::update(std::size_t i) {
    const std::vector<Graph::Neighbor>& neighbors = problem_.graph().neighbors(i);
    Vector gathered = Vector::Zero(x_[i].size());
    for (std::size_t n = 0; n < neighbors.size(); ++n)
        gathered += problem_.a(neighbors[n].edge, i).transpose() * received_[i][n];
    x_[i] = updates_[i]->next(gathered);
    Messages sent;
    for (std::size_t n = 0; n < neighbors.size(); ++n) {
        const Vector weighted = rho_ * (problem_.a(neighbors[n].edge, i) * x_[i]);
        multipliers_[i][n] = received_[i][n] - weighted;
        sent.push_back(multipliers_[i][n] - weighted + rho_ * problem_.b(neighbors[n].edge));
    }
    return sent;
}

void Network::deliver(std::size_t i, const Messages& sent) {
    const std::vector<Graph::Neighbor>& neighbors = problem_.graph().neighbors(i);
    for (std::size_t n = 0; n < neighbors.size(); ++n) {
        if (communication_.loss > 0 && static_cast<double>(random_.uniform()) < communication_.loss) continue;
        Vector& held = received_[neighbors[n].node][neighbors[n].back];
        held = share_ == 1 ? sent[n] : Vector(share_ * sent[n] + (1 - share_) * held);
    }
}

void Network::iterate() {
    const std::size_t nodes = problem_.graph().nodes();
    if (communication_.asynchronous) {
        for (std::size_t activation = 0; activation < nodes; ++activation) {
            const std::size_t i = random_.below(nodes);
            deliver(i, update(i));
        }
        return;
    }
    std::vector<Messages> sent;
    for (std::size_t i = 0; i < nodes; ++i) sent.push_back(update(i));
    for (std::size_t i = 0; i < nodes; ++i) deliver(i, sent[i]);
}

}  // namespace vkf::pdmm
