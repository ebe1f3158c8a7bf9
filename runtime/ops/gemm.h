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

/// A product's kernel may read one more operand, aux, which has y's shape. The epilogue says what y is then. The
/// numbers are those of shaders/lib/matmul_epilogue.glsl.
enum class Epilogue : std::uint32_t {
    none,                 // no aux
    add,                  // y = row_scale · activation(alpha · op(a) · op(b) + bias) + aux
    activation_backward,  // y = row_scale · (alpha · op(a) · op(b) + bias) · activation'(aux)
};

/// y = row_scale · activation(alpha · op(a) · op(b) + bias) without an epilogue, else as Epilogue says. Where a is
/// transposed, row_scale is a factor of a: op(row_scale · a). aux may be y itself.
struct GemmCall {
    GemmShape shape;
    ArgValue a, b;
    bool padded_a = false;         // what lies between its rows is nobody's and may be read
    ArgValue bias = {}, aux = {};  // may be absent
    Epilogue epilogue = Epilogue::none;
    RowScale row_scale = {};
    ArgValue y;
    std::uint32_t layout_a, layout_b, layout_aux = 0, layout_y;  // ops/vector_layout.h
    OperandStrides a_at, b_at;
    std::int64_t aux_pitch = 0, y_pitch;  // matrices of these two follow each other
    float alpha = 1.0f;
    Activation activation = Activation::none;
};

/// The product that a node's op is, nothing if it is none: `y` is its output, or no tensor while that is only planned.
std::optional<GemmCall> gemm_call(const Op& op, std::span<const Tensor> in, Tensor y);

/// Appends a product. `parts` is where partial products go if k is split: products one after the other may share it.
void append_gemm(Lowering& to, const GemmCall& of, std::optional<Scratch>& parts);

}  // namespace vkf
