// The layers that models share: functions from tensors to tensors, with parameters found through their scope.
#pragma once

#include "models/attention/attention.h"
#include "models/scope.h"
#include "ops/ops.h"

namespace vkf {

struct LinearOptions {
    bool bias = true;
    Init init = Init::normal(0.02f);
    Tensor addend = {};  // added to the result, as a residual
};

/// x·W + b with W [in, out], as GPT-2 stores it: [..., in] → [..., out].
Tensor linear(const Scope& scope, Tensor x, std::int64_t out, const LinearOptions& options = {});

/// LayerNorm over the last axis with weight and, if wanted, bias.
Tensor layer_norm(const Scope& scope, Tensor x, bool bias, float eps);

}  // namespace vkf
