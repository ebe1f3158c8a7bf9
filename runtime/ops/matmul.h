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
    Tensor addend = {};     // shape of the result, added last
    Tensor slope_at = {};   // likewise, in place of addend: activation is not taken, its derivative here is a factor
    Tensor row_scale = {};  // factors of a's rows: a's leading extents, then ones, as [B, 1, 1] for a [B, T, K]
};

/// row_scale · activation(alpha · op(a)·op(b) + bias) + addend, or row_scale · (alpha · op(a)·op(b) + bias) ·
/// activation'(slope_at), which has no derivative. a [..., M, K] (or [..., K, M] transposed), b [K, N]
/// shared by the batch or [..., K, N] with a's leading extents. With a shared b all rows of a form one product. The
/// rows of a transposed a are the terms of its sums, and row_scale is a factor of those: op(row_scale · a)·op(b).
Tensor matmul(Tensor a, Tensor b, const MatmulOptions& options = {});

/// A product as the one that also multiplies it by kind'(at); nullopt if the node is no product, or one that has an
/// activation or another operand for its end already.
std::optional<Node> times_slope(const Node& product, Tensor at, Activation kind);

}  // namespace vkf
