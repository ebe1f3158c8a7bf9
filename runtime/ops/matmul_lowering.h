// The kernels of a matrix product, for the op that is one and for ops that have products among their steps.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/activation.h"
#include "ops/matmul_tiling.h"

namespace vkf {

/// Where matrices lie: element (i, j) of matrix z at z · batch + i · pitch + j.
struct Matrices {
    std::int64_t batch, pitch;
};

/// y = activation(alpha · op(a) · op(b) + bias) + addend; addend may be y itself.
struct ProductCall {
    ProductSize size;
    ArgValue a, b;
    ArgValue bias = {}, addend = {};  // may be absent
    ArgValue y;
    std::uint32_t pair_a, pair_b, pair_addend = 0, pair_y;  // forms of pairs (ops/vector_layout.h)
    Matrices a_at, b_at;
    std::int64_t addend_pitch = 0, y_pitch;  // matrices of these two follow each other
    float alpha = 1.0f;
    Activation activation = Activation::none;
};

/// Appends a product. `parts` is where partial products go if k is split: products one after the other may share it.
void append_product(Lowering& to, const ProductCall& of, std::optional<Scratch>& parts);

}  // namespace vkf
