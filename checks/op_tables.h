// The tables of op cases that tests and `vkformer check` go through.
#pragma once

#include <span>
#include <vector>

#include "checks/op_case.h"

namespace vkf::checks {

#define OP_TABLE(name, Suite) std::vector<OpCase> name##_cases();
#include "checks/op_tables.def"
#undef OP_TABLE

/// Cases of one op, or of ops that are checked together.
struct OpTable {
    const char* name;
    std::vector<OpCase> (*cases)();
};

/// All tables.
std::span<const OpTable> op_tables();

}  // namespace vkf::checks
