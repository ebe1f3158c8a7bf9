// A case of an op: its operands, the graph that it builds, and the error that its kernels may make.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/reference.h"

namespace vkf::checks {

/// One input of a case. f32 values are drawn from spread · N(0, 1) + centre, i32 values from [low, high).
struct Operand {
    TensorType type;
    double spread = 1.0;
    double centre = 0.0;
    std::int64_t low = 0;
    std::int64_t high = 1;
    bool differentiate = true;
    std::int64_t padding = 0;         // > 0: the op gets a slice of rows that have this many more columns, of NaN
    std::vector<double> values = {};  // exact values instead of random ones
};

inline Operand normal(Shape shape, double spread = 1.0, double centre = 0.0) {
    return {{DType::f32, std::move(shape)}, spread, centre};
}
inline Operand padded(Shape shape, std::int64_t padding) {
    Operand operand = normal(std::move(shape));
    operand.padding = padding;
    return operand;
}
inline Operand fixed(Shape shape) {  // without a gradient
    Operand operand = normal(std::move(shape));
    operand.differentiate = false;
    return operand;
}
inline Operand integers(Shape shape, std::int64_t low, std::int64_t high) {
    return {{DType::i32, std::move(shape)}, 0, 0, low, high, false};
}

/// Operands of a case, as its graph reads them.
using Inputs = std::span<const Tensor>;

struct OpCase {
    std::string name;
    std::vector<Operand> operands;
    std::function<std::vector<Tensor>(Inputs)> build;  // one or more outputs
    /// Largest |kernel − double| allowed, as a multiple of 2^-24 · max |double| of the tensor. State the reason for
    /// anything but the default: rounding of inputs, a few operations per element.
    double ulps = 16;
    double gradient_ulps = 64;
    /// Finite differences in double need smooth functions and few elements; larger cases may skip them.
    bool finite_differences = true;
    /// If values are stored in 16 bits, each element may be off by one rounding of itself. Set this if an element is a
    /// sum of terms that are rounded to 16 bits one by one: the limit is then relative to the largest element.
    bool rounded_terms = false;
    /// Further roundings to 16 bits that a gradient may differ by, if values are stored so, relative to its largest
    /// element.
    double gradient_roundings = 0;
};

/// True if any operand has a gradient.
bool differentiable(const OpCase& c);

/// Random arrays for a case's operands, by input name "x0", "x1", …; the same in every call.
Arrays draw(const OpCase& c);

}  // namespace vkf::checks
