// Matrix products.
#pragma once

#include "graph/graph.h"
#include "ops/elementwise/activation.h"

namespace vkf {

struct MatmulOptions {
    bool transpose_a = false;  // not together with transpose_b
    bool transpose_b = false;
    float alpha = 1.0f;
    Tensor bias = {};  // [N], added to every row
    Activation activation = Activation::none;
    Tensor addend = {};          // shape of the result, added last
    Tensor pre_activation = {};  // shape of the result; activation'(pre_activation) is a factor; excludes addend
    Tensor row_scale = {};       // factors of a's rows: leading extents of a, then ones, as [B, 1, 1] for a [B, T, K]
};

/// Returns row_scale · activation(alpha · op(a)·op(b) + bias) + addend, or, with pre_activation,
/// row_scale · (alpha · op(a)·op(b) + bias) · activation'(pre_activation), which has no derivative. a [..., M, K] (or
/// [..., K, M] transposed), b [K, N] shared by the batch or [..., K, N] with a's leading extents. With a shared b all
/// rows of a form one product. If a is transposed, its rows are the terms of the sums and are multiplied by row_scale:
/// op(row_scale · a)·op(b).
Tensor matmul(Tensor a, Tensor b, const MatmulOptions& options = {});

/// The product with the additional factor kind'(pre_activation). Empty if the node is no product, or already has an
/// activation, an addend or a pre_activation.
std::optional<Node> with_activation_backward(const Node& product, Tensor pre_activation, Activation kind);

}  // namespace vkf
