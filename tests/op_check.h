// The checks of an op that one line of a table requests: its mathematics in double, then its kernels against that.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/matrix_shape.h"
#include "graph/graph.h"
#include "graph/reference.h"

namespace vkf {
class Device;
}

namespace vkf::test {

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

struct OpCase {
    std::string name;
    std::vector<Operand> operands;
    std::function<std::vector<Tensor>(std::span<const Tensor>)> build;  // one or more outputs
    /// Largest |kernel − double| allowed, as a multiple of 2^-24 · max |double| of the tensor. State the reason for
    /// anything but the default: rounding of inputs, a few operations per element.
    double ulps = 16;
    double gradient_ulps = 64;
    /// Finite differences in double need smooth functions and few elements; larger cases may skip them.
    bool finite_differences = true;
    /// If values are stored in 16 bits, each element may be off by one rounding of itself. Set this if an element is a
    /// sum of terms that are rounded to 16 bits one by one: the limit is then relative to the largest element.
    bool rounded_terms = false;
};

/// Host: reference equals expansion where an op has both; gradients equal central differences in double.
void check_mathematics(const OpCase&);
/// Device: outputs and all gradients equal the interpreter's, guard bands stay intact, NaN in padding and unused memory
/// is never read, and a second run gives the same bits. Graphs with nodes that can be fused are checked both ways.
void check_kernels(const OpCase&);
/// Checks kernels that are lowered for another device than the one that runs them.
void check_kernels(const OpCase&, const DeviceTraits& lowering);

/// Traits of the device as if it were a GPU: large workgroups, shared memory, barriers.
DeviceTraits traits_of_gpu(const Device&);

/// Device: as check_kernels(), with operands of products rounded to 16 bits, for cases of matmul alone without
/// activations. The limit of every element follows from the rounding: (2 u + terms · 2^-24) · Σ|a||b|, u = 2^-11 for
/// fp16 or 2^-8 for bf16; `terms` is the length of the case's longest sum. Skipped if the device has no cooperative
/// matrices.
void check_mixed_kernels(const OpCase&, double terms);
void check_mixed_kernels(const OpCase&, double terms, const DeviceTraits&);

/// Values from which limits are computed, in addition to the case itself.
struct MixedRun {
    Arrays leaves;          // inputs "x0", "x1", … and weights of the outputs "w0", … as kernels read them
    Arrays wanted;          // outputs in double
    MatrixElement element;  // type to which operands are rounded
    double packed;          // largest relative error of a number stored in 16 bits; 0 for fp32
    double packed_least;    // absolute error that is allowed in addition, near 0
};

/// Checks mixed precision of other ops; `limits` returns the largest error of each element of the outputs "y0", … and
/// "d_x0", ….
void check_mixed_kernels(const OpCase&, const std::function<Arrays(const MixedRun&)>& limits);
void check_mixed_kernels(const OpCase&, const std::function<Arrays(const MixedRun&)>& limits, const DeviceTraits&);

/// Traits of the device as if it were a GPU, with the cooperative matrices that the device has.
DeviceTraits traits_with_matrices(const Device&);

/// traits_with_matrices() with matrices of workgroups too: the device's own, else its subgroups' if these have flexible
/// extents, else none.
DeviceTraits traits_with_group_matrices(const Device&);

/// Random arrays for a case's operands, by input name "x0", "x1", …; the same in every call.
Arrays draw(const OpCase&);

/// Converts a case's name to a test's: letters and digits stay, all other characters become '_'.
std::string case_name(const ::testing::TestParamInfo<OpCase>& info);

}  // namespace vkf::test

/// Registers a table of cases: suite HostX runs the mathematics, suite DeviceX the kernels.
#define VKF_OP_TABLE(Name, table)                                                                  \
    class Host##Name : public ::testing::TestWithParam<vkf::test::OpCase> {};                      \
    class Device##Name : public ::testing::TestWithParam<vkf::test::OpCase> {};                    \
    TEST_P(Host##Name, Mathematics) {                                                              \
        vkf::test::check_mathematics(GetParam());                                                  \
    }                                                                                              \
    TEST_P(Device##Name, Kernels) {                                                                \
        vkf::test::check_kernels(GetParam());                                                      \
    }                                                                                              \
    INSTANTIATE_TEST_SUITE_P(Table, Host##Name, ::testing::ValuesIn(table), vkf::test::case_name); \
    INSTANTIATE_TEST_SUITE_P(Table, Device##Name, ::testing::ValuesIn(table), vkf::test::case_name)
