// Many tensors as one contiguous tensor, and back: ops on all of them, and transfers to other devices, then take one
// tensor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// Positions of tensors of these shapes in a flat one: in order, each at a multiple of 64 elements. These are 256
/// bytes, the alignment of storages, so that kernels find each tensor aligned as in a storage of its own.
struct FlatLayout {
    FlatLayout() = default;
    explicit FlatLayout(const std::vector<Shape>& parameters);

    /// Adds a tensor at the end; and the number of elements that there would be after it.
    void append(const Shape& shape);
    std::int64_t elements_with(const Shape& shape) const;

    std::vector<Shape> shapes;
    std::vector<std::int64_t> offsets;  // in elements
    std::int64_t elements = 0;          // in the flat tensor, with the gaps
};

/// f32 [layout.elements]: the tensors, f32 of the layout's shapes, at the layout's offsets; zeros between them and for
/// absent ones. Tensors that are a whole storage are computed in place (passes/elide_concat.h), the others are copied.
Tensor flatten(std::span<const Tensor> tensors, const FlatLayout& layout);

/// Tensors in a flat one, as views; no kernel.
std::vector<Tensor> unflatten(Tensor flat, const FlatLayout& layout);

}  // namespace vkf
