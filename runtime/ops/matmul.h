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
    Tensor addend = {};  // shape of the result, added after the activation
};

/// activation(alpha · op(a)·op(b) + bias) + addend. a [..., M, K] (or [..., K, M] transposed), b [K, N] shared by the
/// batch or [..., K, N] with a's leading extents. With a shared b all rows of a form one product.
Tensor matmul(Tensor a, Tensor b, const MatmulOptions& options = {});

}  // namespace vkf
