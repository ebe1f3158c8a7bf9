#include "models/attention/attention_weights.h"

#include <cmath>

#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/softmax.h"

namespace vkf {

Tensor attention_weights(Tensor q, Tensor k, std::int64_t heads, const AttentionMask& mask) {
    const std::int64_t width = q.width() / heads;
    const auto by_heads = [&](Tensor x) {
        const int order[] = {0, 2, 1, 3};
        return permute(reshape(x, {x.shape()[0], x.shape()[1], heads, width}), order);
    };
    const float scale = 1.0f / std::sqrt(static_cast<float>(width));
    return softmax(matmul(by_heads(q), by_heads(k), {.transpose_b = true, .alpha = scale}), mask);
}

}  // namespace vkf
