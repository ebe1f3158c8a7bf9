// Many tensors one behind the other in one run of memory, and each by itself again: what is done to all of them, or
// sent to other devices, is then done to one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// Where tensors of these shapes lie in a flat one: in order, each at a multiple of 64 elements, which are the 256
/// bytes that any storage begins at a multiple of, so that kernels find them as if each had its own.
struct FlatLayout {
    FlatLayout() = default;
    explicit FlatLayout(const std::vector<Shape>& of);

    /// Adds a tensor at the end; how many elements there would then be.
    void append(const Shape& shape);
    std::int64_t elements_with(const Shape& shape) const;

    std::vector<Shape> shapes;
    std::vector<std::int64_t> offsets;  // in elements
    std::int64_t elements = 0;          // of the flat tensor, with the gaps
};

/// f32 [layout.elements]: the tensors, f32 of the layout's shapes, where it has them; zeros between them and for those
/// that are absent. What is all of a storage is made in its place (passes/elide_concat.h), the rest copied there.
Tensor flatten(std::span<const Tensor> tensors, const FlatLayout& layout);

/// The tensors in a flat one; views, no kernel.
std::vector<Tensor> unflatten(Tensor flat, const FlatLayout& layout);

}  // namespace vkf
