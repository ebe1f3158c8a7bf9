// The discrepancy as a part of attention, which computes it before o is rounded.
#pragma once

#include <cstdint>

#include "graph/op.h"
#include "graph/tensor.h"
#include "ops/attention/discrepancy.h"

namespace vkf {

/// y = by_v·v + by_o·o
struct DiscrepancyWeights {
    float by_o, by_v;
};
DiscrepancyWeights discrepancy_weights(float gamma, GammaOn on);

/// Launch that computes y. o is a tensor or temporary fp32 memory; o and y have rows like v's.
Dispatch discrepancy_launch(const DeviceTraits& device, const ArgValue& o, Tensor v, const DiscrepancyWeights& weights,
                            Tensor y);

/// d_o, d_v and delta = <d_o, o>, [B, heads, T] for rows [B, T, heads·D], given y's gradient d. Attention's derivative
/// needs no more of o, which is (y − by_v·v) / by_o.
struct DiscrepancyGradients {
    Tensor d_o, d_v, delta;
};
DiscrepancyGradients discrepancy_gradients(std::int64_t heads, const DiscrepancyWeights& weights, Tensor y, Tensor v,
                                           Tensor d);

}  // namespace vkf
