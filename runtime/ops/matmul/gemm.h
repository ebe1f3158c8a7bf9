// Kernels of a matrix product, for the op matmul and for ops that compute products among other things.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "ops/elementwise/activation.h"
#include "ops/matmul/gemm_config.h"
#include "ops/rows/rows.h"

namespace vkf {

/// Strides of an operand: element (i, j) of matrix z is at z · batch + i · pitch + j.
struct OperandStrides {
    std::int64_t batch, pitch;
};

/// Use of aux, an optional third operand with y's shape, in a product's result. Numbered as in
/// shaders/matmul/matmul_epilogue.glsl.
enum class Epilogue : std::uint32_t {
    none,                 // no aux
    add,                  // y = row_scale · activation(alpha · op(a) · op(b) + bias) + aux
    activation_backward,  // y = row_scale · (alpha · op(a) · op(b) + bias) · activation'(aux)
};

/// A matrix product. Without an epilogue y = row_scale · activation(alpha · op(a) · op(b) + bias), else as in Epilogue.
/// If a is transposed, row_scale is a factor of a: op(row_scale · a). aux may be y itself.
struct GemmCall {
    GemmShape shape;
    ArgValue a, b;
    bool padded_a = false;         // memory between its rows is unused and may be read
    ArgValue bias = {}, aux = {};  // optional
    Epilogue epilogue = Epilogue::none;
    RowScale row_scale = {};
    ArgValue y;
    std::uint32_t layout_a, layout_b, layout_aux = 0, layout_y;  // ops/vector_layout.h
    OperandStrides a_at, b_at;
    std::int64_t aux_pitch = 0, y_pitch;  // their matrices are contiguous in the batch
    float alpha = 1.0f;
    Activation activation = Activation::none;
};

/// The product that a node's op computes; empty if the op is no product. `y` is its output, or empty while planning.
std::optional<GemmCall> gemm_call(const Op& op, std::span<const Tensor> in, Tensor y);

/// Appends a product. `parts` holds partial products if k is split; products that run one after the other may share it.
void append_gemm(Lowering& lowering, const GemmCall& call, std::optional<Scratch>& parts);

}  // namespace vkf
