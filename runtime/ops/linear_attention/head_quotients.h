// Results of linear attention: sums of values divided by sums of weights, brought from matrices back into heads.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "ops/linear_attention/head_chunks.h"

namespace vkf {

/// o [B, T, H·D] from the chunks' matrices y, whose first D columns are the sums of a head's row and whose column D is
/// the divisor: o = y[:D] / y[D]. o is 0 where the divisor is at most `least`, and for rows that do not count or have
/// no position. y is kept in fp32. Saves y. The gradient of y is <d_o, y> / y[D]² in column D, with a minus; it is 0
/// where o is 0 by rule.
Tensor head_quotients(Tensor y, std::int64_t batch, std::int64_t length, std::int64_t width, const HeadChunks& chunks,
                      float least);

}  // namespace vkf
