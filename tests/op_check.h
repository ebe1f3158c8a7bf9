// The checks of an op that one line of a table requests: its mathematics in double, then its kernels against that.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "checks/case_graph.h"
#include "checks/kernel_check.h"
#include "checks/op_case.h"

namespace vkf {
class Device;
}

namespace vkf::test {

using namespace checks;

/// Format of $VKFORMER_TEST_FORMAT, bf16 or f16, in which everything is stored that may be stored in 16 bits (see
/// passes/assign_storage_types.h); f32 if it is not set.
Format format_under_test();

/// Host: reference equals expansion where an op has both; gradients equal central differences in double.
void check_mathematics(const OpCase&);
/// Device: outputs and all gradients equal the interpreter's, guard bands stay intact, NaN in padding and unused memory
/// is never read, and a second run gives the same bits. Graphs with nodes that can be fused are checked both ways.
void check_kernels(const OpCase&);
/// Checks kernels that are lowered for another device than the one that runs them.
void check_kernels(const OpCase&, const DeviceTraits& lowering);

/// Traits of the device as if it were a GPU: large workgroups, shared memory, barriers.
DeviceTraits traits_of_gpu(const Device&);

/// Device: as check_kernels(), with operands of products rounded to 16 bits, for cases of matmul alone
/// (checks::product_bounds). Skipped if the device has no cooperative matrices.
void check_mixed_kernels(const OpCase&, double terms);
void check_mixed_kernels(const OpCase&, double terms, const DeviceTraits&);

/// Checks mixed precision of other ops.
void check_mixed_kernels(const OpCase&, const Bounds& bounds);
void check_mixed_kernels(const OpCase&, const Bounds& bounds, const DeviceTraits&);

/// Traits of the device as if it were a GPU, with the cooperative matrices that the device has.
DeviceTraits traits_with_matrices(const Device&);

/// traits_with_matrices() with matrices of workgroups too: the device's own, else its subgroups' if these have flexible
/// extents, else none.
DeviceTraits traits_with_group_matrices(const Device&);

/// Runs a case's graph and returns its outputs. Its faults are failures.
Bits run_checked(CaseGraph&, const ProgramOptions& lowering);

/// Converts a case's name to a test's: letters and digits stay, all other characters become '_'.
std::string case_name(const ::testing::TestParamInfo<OpCase>& info);

}  // namespace vkf::test
