#include "pdmm/cost.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "base/error.h"
#include "pdmm/problems.h"

namespace vkf::pdmm::test {
namespace {

class HostPdmmCost : public testing::TestWithParam<bool> {
protected:
    Random random{3, "cost test"};
    std::shared_ptr<const Cost> cost = random_cost(random, 4, GetParam());
};

TEST_P(HostPdmmCost, DerivativesEqualCentralDifferences) {
    constexpr double STEP = 1e-5;
    const Vector x = normal_matrix(random, 4, 1);
    const Vector gradient = cost->gradient(x);
    const Matrix hessian = cost->hessian(x);
    for (Eigen::Index i = 0; i < 4; ++i) {
        const Vector step = STEP * Vector::Unit(4, i);
        EXPECT_NEAR(gradient[i], (cost->value(x + step) - cost->value(x - step)) / (2 * STEP), 1e-8);
        const Vector slope = (cost->gradient(x + step) - cost->gradient(x - step)) / (2 * STEP);
        EXPECT_LE((hessian.col(i) - slope).norm(), 1e-8);
    }
}

TEST_P(HostPdmmCost, CurvatureBoundsTheSecondDerivative) {
    const auto [m, l] = cost->curvature();
    EXPECT_GT(m, 0);
    for (int draw = 0; draw < 20; ++draw) {
        const Vector x = 3 * normal_matrix(random, 4, 1);
        const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(cost->hessian(x)).eigenvalues();
        EXPECT_GE(values[0], m * (1 - 1e-12));
        EXPECT_LE(values[3], l * (1 + 1e-12));
    }
}

TEST_P(HostPdmmCost, MinimizerHasNoSlope) {
    const Matrix p = 0.7 * Matrix::Identity(4, 4);
    const Vector s = normal_matrix(random, 4, 1);
    const Vector start = 50 * normal_matrix(random, 4, 1);  // Newton's whole steps overshoot from there
    const Vector x = minimizer(*cost, p, s, start);
    EXPECT_LE((cost->gradient(x) + p * x - s).norm(), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Costs, HostPdmmCost, testing::Bool(),
                         [](const auto& row) { return row.param ? "logistic" : "quadratic"; });

TEST(HostPdmmCosts, SumAddsEveryTerm) {
    const Costs costs = random_costs(3, 2, true);
    const auto sum = sum_of(costs);
    const Vector x = Vector::Constant(2, 0.4);
    EXPECT_NEAR(sum->value(x), costs[0]->value(x) + costs[1]->value(x) + costs[2]->value(x), 1e-15);
    EXPECT_LE((sum->gradient(x) - costs[0]->gradient(x) - costs[1]->gradient(x) - costs[2]->gradient(x)).norm(), 1e-15);
    EXPECT_LE((sum->hessian(x) - costs[0]->hessian(x) - costs[1]->hessian(x) - costs[2]->hessian(x)).norm(), 1e-15);
}

TEST(HostPdmmCosts, RefusesUnequalSizes) {
    EXPECT_THROW(quadratic_cost(Matrix::Ones(3, 2), Vector::Ones(2)), InputError);
    EXPECT_THROW(logistic_cost(Matrix::Ones(3, 2), Vector::Ones(2), 0.1), InputError);
    EXPECT_THROW(sum_of({random_costs(1, 2, false)[0], random_costs(1, 3, false)[0]}), InputError);
    EXPECT_THROW(consensus(chain(3), random_costs(2, 2, false)), InputError);
    EXPECT_THROW(
        Problem(chain(2), random_costs(2, 2, false), {{Matrix::Ones(1, 2), Matrix::Ones(1, 3), Vector::Ones(1)}}),
        InputError);
}

}  // namespace
}  // namespace vkf::pdmm::test
