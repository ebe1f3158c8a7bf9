// One case of attention with an epilogue.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "checks/attention/mask_cases.h"
#include "checks/op_case.h"
#include "ops/attention/attention_epilogue.h"

namespace vkf::checks {

enum class Epilogue { discrepancy, discrepancy_on_value, rows, heads, both };
constexpr std::array epilogues{Epilogue::discrepancy, Epilogue::discrepancy_on_value, Epilogue::rows, Epilogue::heads,
                               Epilogue::both};

std::vector<Tensor> results(Epilogue epilogue, const AttentionInputs& in, const AttentionOptions& options);

/// A case of attention with this epilogue. Own values are not near 0, because short ones would give one row gradients
/// that dwarf all others.
OpCase with_epilogue(const MaskCase& c, Epilogue epilogue, std::int64_t padding = 0);

}  // namespace vkf::checks
