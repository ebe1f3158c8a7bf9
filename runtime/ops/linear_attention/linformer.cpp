// A composition: keys and values without padding, their products with E and F, attention.
#include "ops/linear_attention/linformer.h"

#include <array>

#include "base/error.h"
#include "ops/linear_attention/head_features.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

void check_projection(std::string_view name, Tensor projection, std::int64_t heads, std::int64_t keys) {
    const Shape& shape = projection.shape();
    require(projection.dtype() == DType::f32 && (shape.rank() == 2 || (shape.rank() == 3 && shape[0] == heads)),
            "linformer attention: ", name, " is ", projection.type(), ", wanted f32[K', n] or f32[", heads, ", K', n]");
    require(shape.width() >= keys, "linformer attention: there are ", keys, " keys, ", name, " combines at most ",
            shape.width());
}

/// x [B, S, N·D] combined along S: [B, K', N·D].
Tensor combined(Tensor projection, Tensor x, std::int64_t heads, Tensor lengths) {
    const std::int64_t batch = x.shape()[0], keys = x.shape()[1], width = x.width() / heads;
    const HeadChunks whole{.heads = heads, .chunk = keys, .lengths = lengths};
    const Tensor rows = head_features(x, HeadFeatureMap::identity, whole);
    const std::int64_t columns = rows.width(), combinations = projection.shape()[-2];
    const Tensor along_keys = permute(reshape(rows, {batch, heads, keys, columns}), std::array{1, 0, 3, 2});
    const Tensor made = matmul(reshape(along_keys, {heads, batch * columns, keys}), slice(projection, -1, 0, keys),
                               {.transpose_b = true});
    const Tensor in_heads =
        permute(reshape(made, {heads, batch, columns, combinations}), std::array{1, 3, 0, 2});  // [B, K', N, columns]
    return reshape(slice(in_heads, -1, 0, width), {batch, combinations, heads * width});
}

}  // namespace

Tensor linformer_attention(Tensor q, Tensor k, Tensor v, Tensor e, Tensor f, const AttentionOptions& options) {
    AttentionMask mask = options.mask;
    require(
        !mask.causal && !mask.diagonal && !mask.window_left && !mask.window_right && mask.dilation == 1,
        "linformer attention: the mask depends on positions, but each combined key stands for keys at all positions");
    const std::int64_t heads = options.value_heads();
    for (const auto& [x, name] : {std::pair{k, "keys"}, {v, "values"}})
        require(x.shape().rank() == 3 && heads > 0 && x.width() % heads == 0, "linformer attention: ", name, " are ",
                x.type(), ", wanted f32[B, S, ", heads, "·D]");
    check_projection("e", e, heads, k.shape()[1]);
    check_projection("f", f, heads, v.shape()[1]);
    AttentionOptions plain = options;
    plain.mask.key_lengths = {};
    return attention(q, combined(e, k, heads, mask.key_lengths), combined(f, v, heads, mask.key_lengths), plain);
}

}  // namespace vkf
