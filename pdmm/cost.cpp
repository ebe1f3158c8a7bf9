#include "pdmm/cost.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace vkf::pdmm {

namespace {

class QuadraticCost final : public Cost {
public:
    QuadraticCost(Matrix c, Vector y) : c_(std::move(c)), y_(std::move(y)), hessian_(c_.transpose() * c_) {
        require(c_.rows() == y_.size(), "quadratic cost: ", c_.rows(), " rows and ", y_.size(), " values");
    }

    Eigen::Index dimension() const override { return c_.cols(); }
    double value(const Vector& x) const override { return 0.5 * (c_ * x - y_).squaredNorm(); }
    Vector gradient(const Vector& x) const override { return c_.transpose() * (c_ * x - y_); }
    Matrix hessian(const Vector&) const override { return hessian_; }
    Curvature curvature() const override {
        const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(hessian_, Eigen::EigenvaluesOnly).eigenvalues();
        return {values[0], values[values.size() - 1]};
    }

private:
    Matrix c_;
    Vector y_;
    Matrix hessian_;
};

/// log(1 + exp(z)) without overflow.
double softplus(double z) {
    return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
}

double sigmoid(double z) {
    return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
}

class LogisticCost final : public Cost {
public:
    LogisticCost(Matrix a, const Vector& y, double ridge) : signed_(std::move(a)), ridge_(ridge) {
        require(signed_.rows() == y.size(), "logistic cost: ", signed_.rows(), " rows and ", y.size(), " labels");
        signed_ = y.asDiagonal() * signed_;
    }

    Eigen::Index dimension() const override { return signed_.cols(); }
    double value(const Vector& x) const override {
        return (-(signed_ * x)).unaryExpr(&softplus).mean() + 0.5 * ridge_ * x.squaredNorm();
    }
    Vector gradient(const Vector& x) const override {
        return signed_.transpose() * (-(signed_ * x)).unaryExpr(&sigmoid) * -share() + ridge_ * x;
    }
    Matrix hessian(const Vector& x) const override {
        const Vector p = (signed_ * x).unaryExpr(&sigmoid);
        const Vector weights = share() * (p.array() * (1 - p.array())).matrix();
        return signed_.transpose() * weights.asDiagonal() * signed_ + ridge_ * identity();
    }
    /// The logistic function's slope is at most ¼.
    Curvature curvature() const override {
        const Matrix gram = 0.25 * share() * signed_.transpose() * signed_;
        const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(gram, Eigen::EigenvaluesOnly).eigenvalues();
        return {ridge_, ridge_ + values[values.size() - 1]};
    }

private:
    double share() const { return 1 / static_cast<double>(signed_.rows()); }
    Matrix identity() const { return Matrix::Identity(dimension(), dimension()); }

    Matrix signed_;  // rows y_n a_n
    double ridge_;
};

class SumCost final : public Cost {
public:
    explicit SumCost(Costs costs) : costs_(std::move(costs)) {
        require(!costs_.empty(), "a sum of costs has none");
        for (const auto& cost : costs_)
            require(cost->dimension() == dimension(), "a sum of costs of dimensions ", dimension(), " and ",
                    cost->dimension());
    }

    Eigen::Index dimension() const override { return costs_[0]->dimension(); }
    double value(const Vector& x) const override {
        double sum = 0;
        for (const auto& cost : costs_) sum += cost->value(x);
        return sum;
    }
    Vector gradient(const Vector& x) const override {
        Vector sum = Vector::Zero(dimension());
        for (const auto& cost : costs_) sum += cost->gradient(x);
        return sum;
    }
    Matrix hessian(const Vector& x) const override {
        Matrix sum = Matrix::Zero(dimension(), dimension());
        for (const auto& cost : costs_) sum += cost->hessian(x);
        return sum;
    }
    Curvature curvature() const override {
        Curvature sum;
        for (const auto& cost : costs_) {
            const Curvature each = cost->curvature();
            sum.convexity += each.convexity;
            sum.smoothness += each.smoothness;
        }
        return sum;
    }

private:
    Costs costs_;
};

}  // namespace

std::shared_ptr<const Cost> quadratic_cost(Matrix c, Vector y) {
    return std::make_shared<QuadraticCost>(std::move(c), std::move(y));
}

std::shared_ptr<const Cost> logistic_cost(Matrix a, Vector y, double ridge) {
    return std::make_shared<LogisticCost>(std::move(a), y, ridge);
}

std::shared_ptr<const Cost> sum_of(Costs costs) {
    return std::make_shared<SumCost>(std::move(costs));
}

Vector minimizer(const Cost& f, const Matrix& p, const Vector& s, const Vector& start) {
    constexpr int STEPS = 200;
    constexpr double SLOPE = 0.25, SHORTER = 0.5;  // backtracking's constants
    constexpr double ROUNDING = 1e-9;              // share of a value below which its differences are rounding errors
    const auto value = [&](const Vector& x) { return f.value(x) + 0.5 * x.dot(p * x) - s.dot(x); };
    Vector x = start;
    for (int step = 0; step < STEPS; ++step) {
        const Vector gradient = f.gradient(x) + p * x - s;
        const Vector direction = -(f.hessian(x) + p).llt().solve(gradient);
        const double descent = -gradient.dot(direction), now = value(x);
        double length = 1;
        if (descent > ROUNDING * std::abs(now))
            while (value(x + length * direction) > now - SLOPE * length * descent && length > 1e-12) length *= SHORTER;
        x += length * direction;
        if (direction.norm() <= 1e-10 * x.norm()) break;  // the error is now about that norm's square
    }
    return x;
}

}  // namespace vkf::pdmm
