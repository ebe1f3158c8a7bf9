// Tensors: an element type, a shape, and a handle into the graph that computes the tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

namespace vkf {

enum class DType : std::uint8_t { f32, i32 };

/// Format of the numbers of a storage in memory. Their meaning is the DType: f32 may be kept in 16 bits.
enum class Format : std::uint8_t { f32, bf16, f16 };

/// Bytes of `elements` elements; 16-bit elements come in pairs.
constexpr std::int64_t bytes_of(std::int64_t elements, Format format) {
    return elements * (format == Format::f32 ? 4 : 2);
}

/// " in bf16", for messages; empty for f32.
std::string_view kept(Format format);

/// Extents of a row-major tensor, outermost first; an empty shape is a scalar.
class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
    explicit Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

    std::size_t rank() const { return extents_.size(); }
    /// Extent of an axis; negative axes count from the end.
    std::int64_t operator[](int axis) const;
    std::int64_t elements() const;
    /// The last extent (1 for a scalar) and the number of rows of that width.
    std::int64_t width() const { return extents_.empty() ? 1 : extents_.back(); }
    std::int64_t rows() const;
    /// The shape with another last extent.
    Shape with_width(std::int64_t width) const;
    std::span<const std::int64_t> extents() const { return extents_; }

    bool operator==(const Shape&) const = default;

private:
    std::vector<std::int64_t> extents_;
};

std::ostream& operator<<(std::ostream&, const Shape&);

struct TensorType {
    DType dtype = DType::f32;
    Shape shape;

    bool operator==(const TensorType&) const = default;
};

std::ostream& operator<<(std::ostream&, const TensorType&);

class Graph;

/// A handle to one value of a graph. A default-constructed handle is "no tensor": an absent bias, a gradient that is
/// zero.
class Tensor {
public:
    Tensor() = default;
    Tensor(Graph& graph, std::uint32_t id) : graph_(&graph), id_(id) {}

    explicit operator bool() const { return graph_ != nullptr; }
    Graph& graph() const { return *graph_; }
    std::uint32_t id() const { return id_; }

    const TensorType& type() const;
    const Shape& shape() const { return type().shape; }
    DType dtype() const { return type().dtype; }
    std::int64_t elements() const { return shape().elements(); }
    std::int64_t rows() const { return shape().rows(); }
    std::int64_t width() const { return shape().width(); }
    /// Elements between the starts of consecutive rows; equals the width unless the tensor is a slice of wider rows.
    std::int64_t pitch() const;
    Format format() const;
    bool contiguous() const { return rows() <= 1 || pitch() == width(); }

    bool operator==(const Tensor&) const = default;

private:
    Graph* graph_ = nullptr;
    std::uint32_t id_ = 0;
};

}  // namespace vkf
