// Batch invariance: the bits of a row's results do not depend on the number of rows that are computed with it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "checks/kernel_check.h"
#include "checks/op_case.h"

namespace vkf::checks {

/// A computation of rows that do not depend on each other.
struct RowCase {
    const char* name;
    /// The computation of the first rows of the same data; its output is [rows, …].
    OpCase (*first)(std::int64_t rows);
};

std::span<const RowCase> row_cases();

/// First row whose bits depend on the number of rows, as "row 0 has other bits among 129 rows than among 5"; empty if
/// there is none. A device need not have this property, so it is no fault.
std::string batch_dependence(Device& device, const RowCase& rows, Format format, const ProgramOptions& lowering);

}  // namespace vkf::checks
