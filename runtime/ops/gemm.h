// The kernels of a matrix product, for the op that is one and for ops that have products among their steps.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "ops/activation.h"
#include "ops/gemm_config.h"
#include "ops/rows.h"

namespace vkf {

/// Where an operand's matrices lie: element (i, j) of matrix z at z · batch + i · pitch + j.
struct OperandStrides {
    std::int64_t batch, pitch;
};

/// y = row_scale · activation(alpha · op(a) · op(b) + bias) + addend, or op(row_scale · a) · op(b) where a is
/// transposed; addend may be y itself.
struct GemmCall {
    GemmShape shape;
    ArgValue a, b;
    bool padded_a = false;            // what lies between its rows is nobody's and may be read
    ArgValue bias = {}, addend = {};  // may be absent
    RowScale row_scale = {};
    ArgValue y;
    std::uint32_t layout_a, layout_b, layout_addend = 0, layout_y;  // ops/vector_layout.h
    OperandStrides a_at, b_at;
    std::int64_t addend_pitch = 0, y_pitch;  // matrices of these two follow each other
    float alpha = 1.0f;
    Activation activation = Activation::none;
};

/// The product that a node's op is, nothing if it is none: `y` is its output, or no tensor while that is only planned.
std::optional<GemmCall> gemm_call(const Op& op, std::span<const Tensor> in, Tensor y);

/// Appends a product. `parts` is where partial products go if k is split: products one after the other may share it.
void append_gemm(Lowering& to, const GemmCall& of, std::optional<Scratch>& parts);

}  // namespace vkf
