// Cases of head_loss with the logits' gradient stored in 16 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/kernel_check.h"
#include "checks/op_case.h"

namespace vkf::checks {

struct RoundedHeadLoss {
    OpCase op;
    double smoothing;
};

/// Error limits of outputs. Products round their factors by `unit` of themselves, and smaller factors like the smallest
/// normal number. A logit is then off by at most e of its row, the loss by 2 e, and a probability p, which is
/// exp(logit) over a sum of exponentials, by p (exp(2 e) − 1). The gradient of a logit, (p − its share of the target) /
/// count, has the same error and is rounded once more. Both are terms of sums in fp32.
Arrays bounds_of(const RoundedHeadLoss& c, const BoundedRun& run);

std::vector<RoundedHeadLoss> rounded_head_losses(std::int64_t channels);

}  // namespace vkf::checks
