// Vectors and matrices in double precision: those of Eigen.
#pragma once

#include <Eigen/Core>

namespace vkf::pdmm {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

}  // namespace vkf::pdmm
