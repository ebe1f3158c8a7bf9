// The tables of op cases that tests and `vkformer check` go through.
#pragma once

#include <span>
#include <vector>

#include "checks/kernel_check.h"
#include "checks/op_case.h"

namespace vkf::checks {

#define OP_TABLE(name, Suite) std::vector<OpCase> name##_cases();
#define BOUNDED_TABLE(name) std::vector<BoundedCase> name##_cases();
#define ROUNDED_TABLE(name) std::vector<BoundedCase> name##_cases();
#include "checks/op_tables.def"
#undef OP_TABLE
#undef BOUNDED_TABLE
#undef ROUNDED_TABLE

/// Cases of one op, or of ops that are checked together.
struct OpTable {
    const char* name;
    std::vector<OpCase> (*cases)();
};

/// Cases with bounds of their own.
struct BoundedTable {
    const char* name;
    std::vector<BoundedCase> (*cases)();
};

std::span<const OpTable> op_tables();
std::span<const BoundedTable> bounded_tables();
/// Cases for devices with cooperative matrices, which round operands of products.
std::span<const BoundedTable> rounded_tables();

}  // namespace vkf::checks
