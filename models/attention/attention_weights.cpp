#include "models/attention/attention_weights.h"

#include "ops/matmul/matmul.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"
#include "ops/rows/softmax.h"

namespace vkf {

Tensor attention_weights(Tensor q, Tensor k, AttentionOptions options) {
    const std::int64_t width = q.width() / options.heads;
    const auto by_heads = [&](Tensor x) {
        const int order[] = {0, 2, 1, 3};
        return permute(reshape(x, {x.shape()[0], x.shape()[1], options.heads, width}), order);
    };
    options.mask.query_lengths = {};
    const Tensor keys = match_heads(k, q, options.value_heads());
    const auto scale = static_cast<float>(options.scale_for(width));
    return softmax(matmul(by_heads(q), by_heads(keys), {.transpose_b = true, .alpha = scale}), options.mask);
}

}  // namespace vkf
