#include "pdmm/network.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "base/error.h"
#include "pdmm/problems.h"

namespace vkf::pdmm::test {
namespace {

constexpr double RHO = 0.7;

std::vector<Vector> random_start(const Problem& problem) {
    Random random(2, "start");
    std::vector<Vector> x;
    for (std::size_t i = 0; i < problem.graph().nodes(); ++i)
        x.push_back(normal_matrix(random, problem.cost(i).dimension(), 1));
    return x;
}

double eta_of(const Problem& problem) {
    return stable_eta(problem.curvature());
}

/// The papers' equations word by word: x_i^k and λ_{i|j}^k of all iterations.
struct Papers {
    const Problem& problem;
    std::vector<std::vector<Vector>> x;                    // [k][i]
    std::vector<std::vector<std::vector<Vector>>> lambda;  // [k][i][index of j]
    std::vector<Vector> half;                              // x_i^{k−½}

    explicit Papers(const Problem& solved) : problem(solved), x{random_start(solved)}, half(x[0]) {
        lambda.emplace_back(problem.graph().nodes());
        for (std::size_t i = 0; i < problem.graph().nodes(); ++i)
            for (const auto& j : problem.graph().neighbors(i))
                lambda[0][i].push_back(Vector::Zero(problem.b(j.edge).size()));
    }

    const Matrix& a_ij(std::size_t i, const Graph::Neighbor& j) const { return problem.a(j.edge, i); }
    const Matrix& a_ji(const Graph::Neighbor& j) const { return problem.a(j.edge, j.node); }
    /// Σ_j A_ijᵀ (λ_{j|i} − ρ A_ji x_j + ρ b_ij) of the last iteration.
    Vector gathered(std::size_t i) const {
        Vector sum = Vector::Zero(x.back()[i].size());
        for (const auto& j : problem.graph().neighbors(i))
            sum += a_ij(i, j).transpose() *
                   (lambda.back()[j.node][j.back] - RHO * a_ji(j) * x.back()[j.node] + RHO * problem.b(j.edge));
        return sum;
    }
    Matrix penalty(std::size_t i) const {
        Matrix sum = Matrix::Zero(x.back()[i].size(), x.back()[i].size());
        for (const auto& j : problem.graph().neighbors(i)) sum += RHO * a_ij(i, j).transpose() * a_ij(i, j);
        return sum;
    }

    /// BeliefFormer eq. 18, whose minimum has no slope, or eq. 30 and 32.
    void iterate(bool quadratic, double eta) {
        std::vector<Vector> next;
        for (std::size_t i = 0; i < x[0].size(); ++i) {
            const Cost& f = problem.cost(i);
            const Matrix p = penalty(i);
            if (!quadratic) {
                next.push_back(minimizer(f, p, gathered(i), Vector::Zero(p.rows())));
                continue;
            }
            const Eigen::LLT<Matrix> b(Matrix(eta * Matrix::Identity(p.rows(), p.cols()) + p));
            half[i] = b.solve(eta * half[i] + gathered(i) - f.gradient(half[i]));
            next.push_back(b.solve(eta * half[i] + gathered(i) - f.gradient(half[i])));
        }
        std::vector<std::vector<Vector>> after(x[0].size());  // eq. 19
        for (std::size_t i = 0; i < x[0].size(); ++i)
            for (const auto& j : problem.graph().neighbors(i))
                after[i].push_back(lambda.back()[j.node][j.back] +
                                   RHO * (problem.b(j.edge) - a_ji(j) * x.back()[j.node] - a_ij(i, j) * next[i]));
        x.push_back(std::move(next));
        lambda.push_back(std::move(after));
    }
};

class HostPdmmEquations : public testing::TestWithParam<bool> {};

TEST_P(HostPdmmEquations, NetworksComputeThem) {
    const Problem problem = unequal_problem(GetParam());
    const double eta = eta_of(problem);
    for (const bool quadratic : {false, true}) {
        Papers papers(problem);
        Network network(problem, quadratic ? Method::qa_pdmm : Method::pdmm, {RHO, eta}, {}, papers.x[0]);
        for (int k = 0; k < 20; ++k) {
            papers.iterate(quadratic, eta);
            network.iterate();
            EXPECT_LE(difference(network.x(), papers.x.back()), 1e-12) << "iteration " << k;
            for (std::size_t i = 0; i < 4; ++i)
                for (std::size_t n = 0; n < problem.graph().neighbors(i).size(); ++n)
                    EXPECT_LE((network.multiplier(i, n) - papers.lambda.back()[i][n]).norm(), 1e-12);
        }
    }
}

TEST_P(HostPdmmEquations, SolveFormEqualsDifferenceForm) {
    const Problem problem = unequal_problem(GetParam());
    const std::vector<Vector> start = random_start(problem);
    for (const bool asynchronous : {false, true}) {
        const Communication communication{asynchronous, asynchronous ? 0.3 : 0.0, 4};
        Network solve(problem, Method::qa_pdmm, {RHO, eta_of(problem)}, communication, start);
        Network differences(problem, Method::qa_pdmm_difference, {RHO, eta_of(problem)}, communication, start);
        for (int k = 0; k < 100; ++k) {
            solve.iterate();
            differences.iterate();
            EXPECT_LE(difference(differences.x(), solve.x()), 1e-12) << "iteration " << k;
        }
    }
}

/// Eq. 5 of BeliefFormer (eq. 4 of AttentionX) with its second sum corrected: both sums have x_i of odd iterations.
TEST_P(HostPdmmEquations, MultipliersAccumulateResiduals) {
    const Problem problem = unequal_problem(GetParam());
    Papers papers(problem);
    for (int k = 0; k < 6; ++k) papers.iterate(false, 0);
    const std::size_t i = 0;
    for (const auto& j : problem.graph().neighbors(i)) {
        Vector wanted = papers.lambda[0][j.node][j.back], printed = wanted;
        for (std::size_t m = 1; m <= 3; ++m) {
            const auto residual = [&](std::size_t of_j, std::size_t of_i) -> Vector {
                return RHO * (problem.b(j.edge) - papers.a_ji(j) * papers.x[of_j][j.node] -
                              papers.a_ij(i, j) * papers.x[of_i][i]);
            };
            wanted += residual(2 * m - 2, 2 * m - 1) + residual(2 * m, 2 * m - 1);
            printed += residual(2 * m - 2, 2 * m - 1) + residual(2 * m - 1, 2 * m);
        }
        EXPECT_LE((papers.lambda[6][j.node][j.back] - wanted).norm(), 1e-13);
        EXPECT_GE((papers.lambda[6][j.node][j.back] - printed).norm(), 1e-3);
    }
}

/// ADMM on A_ij x_i − b/2 = u_{i|j} with u_{i|j} = −u_{j|i} (Boyd et al., Distributed Optimization and Statistical
/// Learning via the Alternating Direction Method of Multipliers, section 3.1): x_i minimises
/// f_i(x) + Σ_j νᵀ A_ij x + ρ/2 ‖A_ij x − b/2 − u_{i|j}‖², then u_{i|j} = ½ (r_i − r_j) and ν += ρ/2 (r_i + r_j), where
/// r_i = A_ij x_i − b/2.
TEST_P(HostPdmmEquations, AdmmEqualsTheTextbook) {
    const Problem problem = unequal_problem(GetParam());
    const Graph& graph = problem.graph();
    const Papers papers(problem);
    std::vector<Vector> x = papers.x[0];
    const auto r = [&](std::size_t i, std::size_t edge) -> Vector {
        return problem.a(edge, i) * x[i] - 0.5 * problem.b(edge);
    };
    std::vector<Vector> nu;  // per edge
    for (std::size_t e = 0; e < graph.edges().size(); ++e)
        nu.push_back(RHO / 2 * (r(graph.edges()[e].i, e) + r(graph.edges()[e].j, e)));
    Network network(problem, Method::admm, {.rho = RHO}, {}, x);
    for (int k = 0; k < 20; ++k) {
        std::vector<Vector> next;
        for (std::size_t i = 0; i < graph.nodes(); ++i) {
            Vector s = Vector::Zero(x[i].size());
            for (const Graph::Neighbor& j : graph.neighbors(i)) {
                const Vector u = 0.5 * (r(i, j.edge) - r(j.node, j.edge));
                s += problem.a(j.edge, i).transpose() * (RHO * (0.5 * problem.b(j.edge) + u) - nu[j.edge]);
            }
            next.push_back(minimizer(problem.cost(i), papers.penalty(i), s, x[i]));
        }
        x = std::move(next);
        for (std::size_t e = 0; e < nu.size(); ++e)
            nu[e] += RHO / 2 * (r(graph.edges()[e].i, e) + r(graph.edges()[e].j, e));
        network.iterate();
        EXPECT_LE(difference(network.x(), x), 1e-12) << "iteration " << k;
    }
}

INSTANTIATE_TEST_SUITE_P(Costs, HostPdmmEquations, testing::Bool(),
                         [](const auto& row) { return row.param ? "logistic" : "quadratic"; });

struct Kind {
    const char* name;
    Graph graph;
};

class HostPdmmConvergence : public testing::TestWithParam<Kind> {
protected:
    /// Largest relative error of the nodes after so many iterations, against the minimum of the costs' sum.
    static double error(const Problem& problem, const Costs& costs, Method method, StepSizes steps,
                        Communication communication, int iterations) {
        Network network(problem, method, steps, communication);
        for (int k = 0; k < iterations; ++k) network.iterate();
        const Eigen::Index d = costs[0]->dimension();
        const Vector optimum = minimizer(*sum_of(costs), Matrix::Zero(d, d), Vector::Zero(d), Vector::Zero(d));
        return difference(network.x(), std::vector<Vector>(costs.size(), optimum));
    }
};

TEST_P(HostPdmmConvergence, NodesAgreeOnTheMinimum) {
    for (const bool logistic : {false, true}) {
        const Costs costs = random_costs(GetParam().graph.nodes(), 3, logistic);
        const Problem problem = consensus(GetParam().graph, costs);
        const StepSizes steps{0.3, eta_of(problem)};
        for (const Method method : {Method::pdmm, Method::qa_pdmm, Method::qa_pdmm_difference, Method::admm})
            EXPECT_LE(error(problem, costs, method, steps, {}, 3000), 1e-9) << static_cast<int>(method) << logistic;
        const Communication unreliable{.asynchronous = true, .loss = 0.3, .seed = 9};
        for (const Method method : {Method::pdmm, Method::qa_pdmm, Method::admm})
            EXPECT_LE(error(problem, costs, method, steps, unreliable, 3000), 1e-9) << static_cast<int>(method);
        EXPECT_LE(error(problem, costs, Method::pdmm, steps, {.loss = 0.5, .seed = 3}, 3000), 1e-9);
    }
}

/// With η far below L, the quadratic approximation lies below the cost, and its minimum overshoots.
TEST_P(HostPdmmConvergence, TooSmallAnEtaDiverges) {
    const Costs costs = random_costs(GetParam().graph.nodes(), 3, false);
    const Problem problem = consensus(GetParam().graph, costs);
    const double l = problem.curvature().smoothness;
    EXPECT_GE(error(problem, costs, Method::qa_pdmm, {0.02 * l, 0.2 * l}, {}, 200), 1e6);
    EXPECT_LE(error(problem, costs, Method::qa_pdmm, {0.02 * l, eta_of(problem)}, {}, 200), 1);
}

INSTANTIATE_TEST_SUITE_P(Graphs, HostPdmmConvergence,
                         testing::Values(Kind{"chain", chain(5)}, Kind{"ring", ring(6)}, Kind{"grid", grid(3, 3)},
                                         Kind{"random", random_graph(10, 0.4, 1)}),
                         [](const auto& row) { return row.param.name; });

/// At a solution of the general problem, constraints hold and ∇f_i(x_i) = Σ_j A_ijᵀ λ_{i|j}.
TEST(HostPdmmNetwork, SolvesProblemsOfUnequalNodes) {
    for (const bool logistic : {false, true}) {
        const Problem problem = unequal_problem(logistic);
        for (const Method method : {Method::pdmm, Method::qa_pdmm}) {
            Network network(problem, method, {RHO, eta_of(problem)});
            for (int k = 0; k < 20000; ++k) network.iterate();
            EXPECT_LE(problem.residual(network.x()), 1e-9);
            for (std::size_t i = 0; i < 4; ++i) {
                Vector slope = problem.cost(i).gradient(network.x()[i]);
                const auto& neighbors = problem.graph().neighbors(i);
                for (std::size_t n = 0; n < neighbors.size(); ++n)
                    slope -= problem.a(neighbors[n].edge, i).transpose() * network.multiplier(i, n);
                EXPECT_LE(slope.norm(), 1e-9);
            }
        }
    }
}

TEST(HostPdmmNetwork, ChanceDependsOnTheSeedAlone) {
    const Problem problem = consensus(ring(5), random_costs(5, 2, false));
    const auto after = [&](Communication communication) {
        Network network(problem, Method::pdmm, {}, communication);
        for (int k = 0; k < 5; ++k) network.iterate();
        return network.x();
    };
    for (const bool asynchronous : {false, true})
        for (const double loss : {0.0, 0.4}) {
            EXPECT_EQ(after({asynchronous, loss, 1}), after({asynchronous, loss, 1}));
            if (!asynchronous && loss == 0) continue;
            EXPECT_NE(after({asynchronous, loss, 1}), after({asynchronous, loss, 2}));
        }
    EXPECT_EQ(after({false, 0, 1}), after({false, 0, 2}));
}

TEST(HostPdmmNetwork, RefusesStepSizesThatAreNotPositive) {
    const Problem problem = consensus(chain(2), random_costs(2, 2, false));
    EXPECT_THROW(Network(problem, Method::pdmm, {.rho = 0}), InputError);
    EXPECT_THROW(Network(problem, Method::qa_pdmm, {.rho = 1, .eta = -1}), InputError);
    EXPECT_THROW(Network(problem, Method::pdmm, {}, {}, {Vector::Zero(2)}), InputError);
}

}  // namespace
}  // namespace vkf::pdmm::test
