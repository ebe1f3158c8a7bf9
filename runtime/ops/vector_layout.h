// Layouts for kernels that read and write two neighbouring elements at a time (shaders/lib/vector_layout.glsl).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <variant>

#include "graph/graph.h"

namespace vkf {

/// Layout of pairs of neighbours in a tensor's memory, numbered as in shaders/lib/vector_layout.glsl.
enum class VectorLayout : std::uint32_t { scalar, vec2, bf16x2, f16x2 };

/// True if all rows start at even elements. Storage itself always starts at a multiple of 256 bytes.
inline bool even(Tensor tensor) {
    return tensor.graph().value(tensor).offset % 2 == 0 && (tensor.rows() <= 1 || tensor.pitch() % 2 == 0);
}

/// True if all rows start at multiples of eight elements, which are 16 bytes in 16-bit formats.
inline bool in_eights(Tensor tensor) {
    return tensor.graph().value(tensor).offset % 8 == 0 && (tensor.rows() <= 1 || tensor.pitch() % 8 == 0);
}

/// True if an argument's rows start at multiples of `count`, a power of two, at pitches other than the tensor's, given
/// as their bitwise or.
inline bool in_multiples(const ArgValue& value, std::int64_t pitches, std::int64_t count) {
    std::int64_t first = 0;
    const Tensor* tensor = std::get_if<Tensor>(&value);
    if (const auto* section = std::get_if<Section>(&value)) {
        first = section->first;
        tensor = std::get_if<Tensor>(&section->of);
    }
    if (tensor) first += tensor->graph().value(*tensor).offset;
    return (first | pitches) % count == 0;
}

/// True if an argument's rows start at even elements; a temporary's always do.
inline bool even(const ArgValue& value) {
    const auto* tensor = std::get_if<Tensor>(&value);
    return !tensor || even(*tensor);
}

/// True if all tensors may be read in pairs; absent ones may.
inline bool all_even(std::span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors)
        if (tensor && !even(tensor)) return false;
    return true;
}

/// Layout of 32-bit numbers.
inline std::uint32_t vector_layout(bool aligned) {
    return static_cast<std::uint32_t>(aligned ? VectorLayout::vec2 : VectorLayout::scalar);
}

/// Layout of numbers in `format`; for f32, `aligned` is true if pairs are aligned.
inline std::uint32_t vector_layout(Format format, bool aligned) {
    if (format == Format::f32) return vector_layout(aligned);
    return static_cast<std::uint32_t>(format == Format::bf16 ? VectorLayout::bf16x2 : VectorLayout::f16x2);
}

/// Layout of one tensor; for f32, `aligned` is true if pairs are aligned.
inline std::uint32_t vector_layout(Tensor tensor, bool aligned) {
    return vector_layout(tensor ? tensor.format() : Format::f32, aligned);
}

inline std::uint32_t vector_layout(Tensor tensor) {
    return vector_layout(tensor, !tensor || even(tensor));
}

/// Layout of a tensor whose kernel also takes rows that start at odd elements.
inline std::uint32_t vector_layout_of_any_rows(Tensor tensor) {
    return vector_layout(tensor, tensor.graph().value(tensor).offset % 2 == 0);
}

/// Common layout of several tensors, which are all in one 16-bit format, or all in fp32.
inline std::uint32_t vector_layout(std::span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors)
        if (tensor && tensor.format() != Format::f32) return vector_layout(tensor);
    return vector_layout(all_even(tensors));
}

}  // namespace vkf
