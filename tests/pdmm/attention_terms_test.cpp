// Every step of docs/pdmm.md, which identifies attention's terms with those of PDMM, in numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "graph/reference.h"
#include "ops/attention/attention.h"
#include "ops/attention/attention_epilogue.h"
#include "ops/attention/discrepancy.h"
#include "pdmm/network.h"
#include "pdmm/problems.h"

namespace vkf::pdmm::test {
namespace {

constexpr Eigen::Index TOKENS = 6, WIDTH = 8;

/// One attention head: its weights α, and rows of values, of standard attention, of AttentionX and of belief.
struct Head {
    Matrix weights, v, o, discrepancy, belief;
};

Array array_of(const Matrix& rows) {
    Array made{{1, rows.rows(), rows.cols()}, {}};
    for (Eigen::Index r = 0; r < rows.rows(); ++r)
        for (Eigen::Index c = 0; c < rows.cols(); ++c) made.at.push_back(rows(r, c));
    return made;
}

Matrix matrix_of(const Array& array) {
    Matrix made(array.shape[1], array.shape[2]);
    for (Eigen::Index r = 0; r < made.rows(); ++r)
        for (Eigen::Index c = 0; c < made.cols(); ++c)
            made(r, c) = array.at[static_cast<std::size_t>(r * made.cols() + c)];
    return made;
}

/// The head by vkformer's own ops, in double.
Head head_of(const Matrix& v, float gamma, bool mask_diagonal = false) {
    Random random(7, "head");
    vkf::Graph graph;
    const auto input = [&](const char* name, Eigen::Index width) {
        return graph.input(name, {DType::f32, {1, TOKENS, width}});
    };
    const Tensor q = input("q", WIDTH), k = input("k", WIDTH), values = input("v", WIDTH), unit = input("i", TOKENS);
    AttentionOptions options;
    options.mask.diagonal = mask_diagonal;
    const Tensor o = attention(q, k, values, options);
    graph.output("weights", attention(q, k, unit, options));
    graph.output("o", o);
    graph.output("discrepancy", discrepancy(o, values, gamma, GammaOn::sum));
    graph.output("belief", attention_project_out_rows({q, k, values, values}, options));
    const Arrays found = interpret(graph, {{"q", array_of(normal_matrix(random, TOKENS, WIDTH))},
                                           {"k", array_of(normal_matrix(random, TOKENS, WIDTH))},
                                           {"v", array_of(v)},
                                           {"i", array_of(Matrix::Identity(TOKENS, TOKENS))}});
    return {matrix_of(found.at("weights")), v, matrix_of(found.at("o")), matrix_of(found.at("discrepancy")),
            matrix_of(found.at("belief"))};
}

Matrix random_values() {
    Random random(8, "values");
    return normal_matrix(random, TOKENS, WIDTH);
}

/// Step 1: Σ_j A_ijᵀ (A_ij v_i + A_ji v_j) with A_ij = √α_ij I and A_ji = −γ √α_ij I is AttentionX's Φ.
TEST(HostPdmmAttention, DiscrepancyIsTheResidualOfWeightedConstraints) {
    const float gamma = 3;
    const Head head = head_of(random_values(), gamma);
    for (Eigen::Index i = 0; i < TOKENS; ++i) {
        Vector gathered = Vector::Zero(WIDTH);
        for (Eigen::Index j = 0; j < TOKENS; ++j) {
            const Matrix a_ij = std::sqrt(head.weights(i, j)) * Matrix::Identity(WIDTH, WIDTH), a_ji = -gamma * a_ij;
            gathered += a_ij.transpose() * (a_ij * head.v.row(i).transpose() + a_ji * head.v.row(j).transpose());
        }
        EXPECT_LE((gathered - head.discrepancy.row(i).transpose()).norm(), 1e-14);
    }
}

/// Step 2 (AttentionX, eq. 12): the token's own share, and differences to the others.
TEST(HostPdmmAttention, DiscrepancyHasATermOfItsOwnToken) {
    const float gamma = 3;
    const Head head = head_of(random_values(), gamma);
    for (Eigen::Index k = 0; k < TOKENS; ++k) {
        Vector sum = head.weights(k, k) * (1 - gamma) * head.v.row(k).transpose();
        for (Eigen::Index j = 0; j < TOKENS; ++j)
            if (j != k) sum += head.weights(k, j) * (head.v.row(k) - gamma * head.v.row(j)).transpose();
        EXPECT_LE((sum - head.discrepancy.row(k).transpose()).norm(), 1e-14);
    }
}

/// Step 3 (AttentionX, eq. 13): at γ = 1 a masked diagonal divides Φ by 1 − α_kk.
TEST(HostPdmmAttention, MaskedDiagonalEnlargesTheDiscrepancy) {
    const Head whole = head_of(random_values(), 1), masked = head_of(random_values(), 1, true);
    for (Eigen::Index k = 0; k < TOKENS; ++k) {
        const double other = 1 - whole.weights(k, k);
        EXPECT_EQ(masked.weights(k, k), 0);
        EXPECT_LE((masked.discrepancy.row(k) - whole.discrepancy.row(k) / other).norm(), 1e-14);
        EXPECT_GT(masked.discrepancy.row(k).norm(), whole.discrepancy.row(k).norm());
    }
}

/// Step 4 (BeliefFormer, eq. 10-13): of all MH − αV, belief's is the shortest, and stands upright on V.
TEST(HostPdmmAttention, BeliefIsTheSmallestResidual) {
    const Head head = head_of(random_values(), 1);
    for (Eigen::Index i = 0; i < TOKENS; ++i) {
        const auto v = head.v.row(i), o = head.o.row(i), belief = head.belief.row(i);
        const double alpha = o.dot(v) / v.squaredNorm();
        EXPECT_LE((belief - (o - alpha * v)).norm(), 1e-14);
        EXPECT_LE(std::abs(belief.dot(v)), 1e-14);
        EXPECT_NEAR(belief.squaredNorm() + alpha * alpha * v.squaredNorm(), o.squaredNorm(), 1e-14);
        for (const double other : {alpha - 0.1, alpha + 0.1, 0.0, 1.0})
            EXPECT_LT(belief.norm(), (o - other * v).norm());
    }
}

/// Step 5: where all tokens agree, residuals vanish, and standard attention's term does not.
TEST(HostPdmmAttention, ResidualsVanishAtConsensus) {
    const Head head = head_of(random_values().row(0).replicate(TOKENS, 1), 1);
    EXPECT_LE(head.discrepancy.norm(), 1e-14);
    EXPECT_LE(head.belief.norm(), 1e-14);
    EXPECT_LE((head.o - head.v).norm(), 1e-14);
    EXPECT_GT(head.o.norm(), 1);
}

/// Nodes of a ring that must agree, and their states before and after an iteration.
struct Ring {
    static constexpr double RHO = 0.7;
    struct State {
        std::vector<Vector> x;
        std::vector<std::vector<Vector>> lambda;  // λ_{i|j}, by node and neighbour
    };

    Problem problem = consensus(ring(5), random_costs(5, 3, false));
    double eta = stable_eta(problem.curvature());
    Network network{problem, Method::qa_pdmm, {RHO, eta}};

    State iterate() {
        network.iterate();
        State state{network.x(), std::vector<std::vector<Vector>>(5)};
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t n = 0; n < 2; ++n) state.lambda[i].push_back(network.multiplier(i, n));
        return state;
    }
    /// Σ_j A_ijᵀ ((λ_{j|i}^k − λ_{j|i}^{k−1}) − ρ A_ji (x_j^k − x_j^{k−1})), or as eq. 2 is printed, where A_ijᵀ stands
    /// only before the multipliers.
    Vector signal(std::size_t i, const State& last, const State& now, bool printed = false) const {
        Vector sum = Vector::Zero(3);
        for (const Graph::Neighbor& j : problem.graph().neighbors(i)) {
            const Matrix& a_ij = problem.a(j.edge, i);
            const Vector moved = RHO * problem.a(j.edge, j.node) * (now.x[j.node] - last.x[j.node]);
            const Vector changed = now.lambda[j.node][j.back] - last.lambda[j.node][j.back];
            sum += a_ij.transpose() * changed - (printed ? moved : Vector(a_ij.transpose() * moved));
        }
        return sum;
    }
};

/// Step 6 (BeliefFormer, eq. 2 and 3): the residual signal makes the first residual connection, the change of the
/// cost's gradient the second. In a ring of consensus constraints, B = (η + 2ρ) I. Node 4 has A_ij = −I for both edges.
TEST(HostPdmmAttention, QaPdmmHasTwoResidualConnections) {
    Ring nodes;
    const double b = nodes.eta + 2 * Ring::RHO;
    std::vector<Vector> half;  // x^{½}, from x^{−½} = x^0 = 0 and λ^0 = 0
    for (std::size_t i = 0; i < 5; ++i) half.push_back(-nodes.problem.cost(i).gradient(Vector::Zero(3)) / b);
    Ring::State last{std::vector<Vector>(5, Vector::Zero(3)),
                     std::vector<std::vector<Vector>>(5, std::vector<Vector>(2, Vector::Zero(3)))};
    Ring::State now = nodes.iterate();
    for (int k = 1; k < 10; ++k) {
        std::vector<Vector> wanted;
        for (std::size_t i = 0; i < 5; ++i) {
            const Cost& f = nodes.problem.cost(i);
            const Vector before = half[i];
            half[i] = now.x[i] + nodes.signal(i, last, now) / b;
            wanted.push_back(half[i] + (nodes.eta * (half[i] - before) - f.gradient(half[i]) + f.gradient(before)) / b);
        }
        EXPECT_GT((nodes.signal(4, last, now, true) - nodes.signal(4, last, now)).norm(), 1e-3);
        last = now;
        now = nodes.iterate();
        EXPECT_LE(difference(now.x, wanted), 1e-13);
    }
}

/// Step 7: the residual signal vanishes where the nodes agree, like Φ at γ = 1 and Δ.
TEST(HostPdmmAttention, ResidualSignalOfQaPdmmVanishesAtConsensus) {
    Ring nodes;
    const Ring::State first = nodes.iterate(), second = nodes.iterate();
    EXPECT_GT(nodes.signal(0, first, second).norm(), 1e-2);
    for (int k = 0; k < 5000; ++k) nodes.network.iterate();
    const Ring::State last = nodes.iterate(), now = nodes.iterate();
    EXPECT_LE(nodes.problem.residual(now.x), 1e-12);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_LE(nodes.signal(i, last, now).norm(), 1e-12);
}

}  // namespace
}  // namespace vkf::pdmm::test
