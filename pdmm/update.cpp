#include "pdmm/update.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>

namespace vkf::pdmm {

namespace {

class ExactUpdate final : public NodeUpdate {
public:
    ExactUpdate(const Cost& cost, Matrix penalty, Vector x)
        : cost_(cost), penalty_(std::move(penalty)), x_(std::move(x)) {}

    Vector next(const Vector& gathered) override { return x_ = minimizer(cost_, penalty_, gathered, x_); }

private:
    const Cost& cost_;
    Matrix penalty_;
    Vector x_;
};

class QuadraticUpdate : public NodeUpdate {
public:
    QuadraticUpdate(const Cost& cost, const Matrix& penalty, double eta, Vector x)
        : cost_(cost),
          eta_(eta),
          b_(Matrix(penalty + eta * Matrix::Identity(penalty.rows(), penalty.cols()))),
          half_(std::move(x)),
          gradient_(cost.gradient(half_)) {}

    Vector next(const Vector& gathered) override {
        move_half(solve(eta_ * half_ + gathered - gradient_));
        return solve(eta_ * half_ + gathered - gradient_);
    }

protected:
    Vector solve(const Vector& right) const { return b_.solve(right); }
    void move_half(Vector half) {
        half_ = std::move(half);
        gradient_ = cost_.gradient(half_);
    }

    const Cost& cost_;
    double eta_;
    Eigen::LLT<Matrix> b_;
    Vector half_, gradient_;  // x_i^{k−½} and ∇f_i there
};

class DifferenceUpdate final : public QuadraticUpdate {
public:
    using QuadraticUpdate::QuadraticUpdate;

    Vector next(const Vector& gathered) override {
        if (x_.size() == 0) {
            x_ = QuadraticUpdate::next(gathered);  // differences need an earlier iteration
        } else {
            const Vector last_half = half_, last_gradient = gradient_;
            move_half(x_ + solve(gathered - gathered_));
            x_ = half_ + solve(eta_ * (half_ - last_half) - (gradient_ - last_gradient));
        }
        gathered_ = gathered;
        return x_;
    }

private:
    Vector x_, gathered_;  // x_i^k and s_i^{k−1}
};

}  // namespace

std::unique_ptr<NodeUpdate> exact_update(const Cost& cost, Matrix penalty, Vector x) {
    return std::make_unique<ExactUpdate>(cost, std::move(penalty), std::move(x));
}

std::unique_ptr<NodeUpdate> quadratic_update(const Cost& cost, const Matrix& penalty, double eta, Vector x,
                                             QuadraticForm form) {
    if (form == QuadraticForm::difference) return std::make_unique<DifferenceUpdate>(cost, penalty, eta, std::move(x));
    return std::make_unique<QuadraticUpdate>(cost, penalty, eta, std::move(x));
}

double stable_eta(const Curvature& c) {
    return std::max(c.smoothness, c.smoothness * c.smoothness / (2 * c.convexity));
}

}  // namespace vkf::pdmm
