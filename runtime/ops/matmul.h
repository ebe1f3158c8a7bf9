// Matrix products.
#pragma once

#include "graph/graph.h"
#include "ops/activation.h"

namespace vkf {

struct MatmulOptions {
    bool transpose_a = false;  // not both
    bool transpose_b = false;
    float alpha = 1.0f;
    Tensor bias = {};  // [N], added to every row
    Activation activation = Activation::none;
    Tensor addend = {};          // shape of the result, added last
    Tensor pre_activation = {};  // shape of the result; then activation'(pre_activation) is a factor, and no addend
    Tensor row_scale = {};       // factors of a's rows: a's leading extents, then ones, as [B, 1, 1] for a [B, T, K]
};

/// row_scale · activation(alpha · op(a)·op(b) + bias) + addend, or row_scale · (alpha · op(a)·op(b) + bias) ·
/// activation'(pre_activation), which has no derivative. a [..., M, K] (or [..., K, M] transposed), b [K, N]
/// shared by the batch or [..., K, N] with a's leading extents. With a shared b all rows of a form one product. The
/// rows of a transposed a are the terms of its sums, and row_scale is a factor of those: op(row_scale · a)·op(b).
Tensor matmul(Tensor a, Tensor b, const MatmulOptions& options = {});

/// The product with the factor kind'(pre_activation). Nothing if the node is no product, or one that
/// has an activation, an addend or a pre_activation already.
std::optional<Node> with_activation_backward(const Node& product, Tensor pre_activation, Activation kind);

}  // namespace vkf
