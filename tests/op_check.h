// The checks every op gets from one line of a table: the mathematics in double, then the kernels against it.
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
    std::int64_t padding = 0;         // > 0: given to the op as a slice of rows wider by this much, which hold NaN
    std::vector<double> values = {};  // exact values instead of drawn ones
};

inline Operand normal(Shape shape, double spread = 1.0, double centre = 0.0) {
    return {{DType::f32, std::move(shape)}, spread, centre};
}
inline Operand padded(Shape shape, std::int64_t padding) {
    Operand operand = normal(std::move(shape));
    operand.padding = padding;
    return operand;
}
inline Operand fixed(Shape shape) {  // no gradient wanted
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
    /// Where values are kept in 16 bits each element may be off by one rounding of itself. A sum of terms that are kept
    /// so one by one is off by theirs, which is told here: then the limit is relative to the largest element.
    bool rounded_terms = false;
};

/// Host: reference equals expansion where an op has both; gradients equal central differences in double.
void check_mathematics(const OpCase&);
/// Device: forward and every gradient equal the interpreter's, guard bands stay intact, NaN in padding and unused
/// memory is never read, and a second run gives the same bits. Where chains of nodes can be one, both ways.
void check_kernels(const OpCase&);
/// The same with ops lowered for another device than the one that runs them.
void check_kernels(const OpCase&, const DeviceTraits& lowering);

/// As for a GPU: large workgroups, shared memory, barriers.
DeviceTraits traits_of_gpu(const Device&);

/// Device: the same with operands of products rounded to 16 bits, for cases made of matmul alone without activations.
/// Every element's limit follows from what was rounded: (2 u + terms · 2^-24) · Σ|a||b|, u = 2^-11 of fp16 or 2^-8 of
/// bf16, where `terms` is the longest sum of the case. Skipped where the device has no cooperative matrices.
void check_mixed_kernels(const OpCase&, double terms);
void check_mixed_kernels(const OpCase&, double terms, const DeviceTraits&);

/// What limits follow from besides the case itself.
struct MixedRun {
    Arrays leaves;          // inputs "x0", "x1", … and weights of the outputs "w0", … as kernels find them
    Arrays wanted;          // outputs in double
    MatrixElement element;  // that operands are rounded to
    double packed;          // relative: what a number may be off that is kept in 16 bits; 0 where none is
    double packed_least;    // and what it may be off at least, near 0
};

/// The same for other ops; `limits` gives what each element of the outputs "y0", … and "d_x0", … may be off.
void check_mixed_kernels(const OpCase&, const std::function<Arrays(const MixedRun&)>& limits);
void check_mixed_kernels(const OpCase&, const std::function<Arrays(const MixedRun&)>& limits, const DeviceTraits&);

/// As for a GPU, with whatever cooperative matrices the device has.
DeviceTraits traits_with_matrices(const Device&);

/// The same with those of its workgroups, or else of its subgroups in any extents; without either, none.
DeviceTraits traits_with_group_matrices(const Device&);

/// The arrays a case's operands are drawn as, by input name "x0", "x1", …; the same for every call.
Arrays draw(const OpCase&);

/// A case's name for the test's: letters and digits kept, the rest '_'.
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
