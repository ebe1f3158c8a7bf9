// Other shapes, slices and orders of the same elements: reshape, split, slice, concat, permute, contiguous.
#include "ops/movement/view.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/integers.h"
#include "ops/movement/copy.h"

namespace vkf {

namespace {

class ReshapeOp : public Op {
public:
    explicit ReshapeOp(Shape shape) : shape_(std::move(shape)) {}

    std::string_view name() const override { return "reshape"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].shape.elements() == shape_.elements(), in[0].shape, " does not have the elements of ", shape_);
        return {{in[0].dtype, shape_}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        out[0].at = in[0].at;
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{reshape(at.d_out[0], at.in[0].shape())};
    }

    void lower(Lowering&) const override {}

    std::optional<View> view(std::span<const Tensor> in, std::size_t) const override {
        return View{0, in[0].contiguous() ? shape_.width() : in[0].pitch()};
    }

private:
    Shape shape_;
};

/// Parts side by side along the last axis. An absent part is zeros.
class ConcatOp : public Op {
public:
    ConcatOp(DType dtype, const Shape& like, std::vector<std::int64_t> widths)
        : type_{dtype, like.with_width(std::accumulate(widths.begin(), widths.end(), std::int64_t{0}))},
          widths_(std::move(widths)) {}

    std::string_view name() const override { return "concat"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (std::size_t i = 0; i < in.size(); ++i) {
            const TensorType wanted{type_.dtype, type_.shape.with_width(widths_[i])};
            const bool scalar = in[i].shape.rank() == 0 && wanted.shape == Shape{1};
            require(in[i].shape == Shape{0} || scalar || in[i] == wanted, "part ", i, " is ", in[i], ", wanted ",
                    wanted);
        }
        return {type_};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        std::int64_t start = 0;
        for (std::size_t i = 0; i < in.size(); start += widths_[i++]) {
            for (std::int64_t r = 0; r < type_.shape.rows() && !in[i].at.empty(); ++r)
                std::copy_n(in[i].at.begin() + r * widths_[i], widths_[i],
                            out[0].at.begin() + r * type_.shape.width() + start);
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        std::vector<Tensor> d_in = split(at.d_out[0], widths_);
        for (std::size_t i = 0; i < d_in.size(); ++i) {
            if (!at.wanted[i])
                d_in[i] = {};
            else if (d_in[i].shape() != at.in[i].shape())
                d_in[i] = reshape(d_in[i], at.in[i].shape());
        }
        return d_in;
    }

    void lower(Lowering& lowering) const override {
        std::int64_t start = 0;
        for (std::size_t i = 0; i < lowering.in.size(); start += widths_[i++]) {
            const Tensor part = lowering.in[i];
            const Graph& graph = lowering.out[0].graph();
            if (part && graph.value(part).storage == graph.value(lowering.out[0]).storage)
                continue;  // computed in place
            lowering.dispatch(strided_copy(
                lowering.device, part, lowering.out[0],
                {{type_.shape.rows(), part ? part.pitch() : 0, type_.shape.width()}, {widths_[i], part ? 1 : 0, 1}},
                start));
        }
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        KernelTraits made;
        made.concat_offsets.resize(widths_.size());
        std::exclusive_scan(widths_.begin(), widths_.end(), made.concat_offsets.begin(), std::int64_t{0});
        const bool even = std::ranges::all_of(widths_, [](std::int64_t width) { return width % 2 == 0; });
        if (even && widths_.size() <= 32) made.half_in = ~0u, made.half_out = 0b1, made.uniform = true;
        return made;
    }

private:
    TensorType type_;
    std::vector<std::int64_t> widths_;
};

Tensor join(Graph& graph, std::vector<Tensor> parts, TensorType like, std::vector<std::int64_t> widths) {
    return add_one(graph, ConcatOp(like.dtype, like.shape, std::move(widths)), std::move(parts));
}

struct Columns {
    std::int64_t start;
    std::int64_t width;
};

/// Runs of columns of x in ascending order, each a view.
class ColumnsOp : public Op {
public:
    explicit ColumnsOp(std::vector<Columns> parts) : parts_(std::move(parts)) {}

    std::string_view name() const override { return parts_.size() == 1 ? "slice" : "split"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        std::vector<TensorType> out;
        for (const auto& [start, width] : parts_) {
            require(start >= 0 && width > 0 && start + width <= in[0].shape.width(), "columns [", start, ", ",
                    start + width, ") of ", in[0]);
            out.push_back({in[0].dtype, in[0].shape.with_width(width)});
        }
        return out;
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const auto [start, width] = parts_[i];
            for (std::int64_t r = 0; r < in[0].shape.rows(); ++r)
                std::copy_n(in[0].at.begin() + r * in[0].shape.width() + start, width, out[i].at.begin() + r * width);
        }
        return true;
    }

    /// Gradients side by side, zeros for columns without one.
    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const TensorType& type = at.in[0].type();
        std::vector<Tensor> pieces;
        std::vector<std::int64_t> widths;
        const auto append = [&](Tensor piece, std::int64_t width) {
            pieces.push_back(piece);
            widths.push_back(width);
        };
        std::int64_t done = 0;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (!at.d_out[i]) continue;
            if (parts_[i].start > done) append({}, parts_[i].start - done);
            append(at.d_out[i], parts_[i].width);
            done = parts_[i].start + parts_[i].width;
        }
        if (done < type.shape.width()) append({}, type.shape.width() - done);
        return std::vector{join(at.in[0].graph(), pieces, type, widths)};
    }

    void lower(Lowering&) const override {}

    std::optional<View> view(std::span<const Tensor> in, std::size_t output) const override {
        return View{parts_[output].start, in[0].pitch()};
    }

private:
    std::vector<Columns> parts_;
};

/// out[i…] = in[…] with output axis k being input axis axes[k]. With the axes in order it makes a slice contiguous.
class PermuteOp : public Op {
public:
    explicit PermuteOp(std::vector<int> axes) : axes_(std::move(axes)) {}

    std::string_view name() const override {
        return std::is_sorted(axes_.begin(), axes_.end()) ? "contiguous" : "permute";
    }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(axes_.size() == in[0].shape.rank(), axes_.size(), " axes for ", in[0]);
        std::vector<std::int64_t> extents;
        for (const int axis : axes_) extents.push_back(in[0].shape[axis]);
        return {{in[0].dtype, Shape(extents)}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        std::vector<std::int64_t> stride(axes_.size(), 1);
        for (std::size_t k = axes_.size(); k-- > 1;) stride[k - 1] = stride[k] * in[0].shape.extents()[k];
        for (std::size_t i = 0; i < out[0].at.size(); ++i) {
            std::int64_t rest = static_cast<std::int64_t>(i), from = 0;
            for (std::size_t k = axes_.size(); k-- > 0;) {
                const std::int64_t extent = out[0].shape.extents()[k];
                from += rest % extent * stride[as_index(axes_[k])];
                rest /= extent;
            }
            out[0].at[i] = in[0].at[as_index(from)];
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        std::vector<int> inverse(axes_.size());
        for (std::size_t k = 0; k < axes_.size(); ++k) inverse[as_index(axes_[k])] = static_cast<int>(k);
        return std::vector{permute(at.d_out[0], inverse)};
    }

    void lower(Lowering& lowering) const override {
        const std::vector<std::int64_t> x = strides(lowering.in[0]), y = strides(lowering.out[0]);
        std::vector<CopyAxis> axes;
        for (std::size_t k = 0; k < axes_.size(); ++k)
            axes.push_back({lowering.out[0].shape().extents()[k], x[as_index(axes_[k])], y[k]});
        lowering.dispatch(strided_copy(lowering.device, lowering.in[0], lowering.out[0], axes));
    }

    /// Pairs stay pairs as long as the last axis stays the last.
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        if (axes_.back() != static_cast<int>(axes_.size()) - 1) return {};
        return {.half_in = 0b1, .half_out = 0b1, .uniform = true};
    }

private:
    std::vector<int> axes_;
};

std::string where(Tensor x, std::string_view op) {
    return text(x.graph().scope, x.graph().scope.empty() ? "" : ": ", op, ": ");
}

}  // namespace

Tensor reshape(Tensor x, Shape shape) {
    if (shape == x.shape()) return x;
    const bool rows_stay_rows = shape.width() == x.width();
    return add_one(x.graph(), ReshapeOp(std::move(shape)), {rows_stay_rows ? x : contiguous(x)});
}

std::vector<Tensor> split(Tensor x, std::span<const std::int64_t> widths) {
    if (widths.size() == 1 && widths[0] == x.width()) return {x};
    std::vector<Columns> parts;
    std::int64_t start = 0;
    for (const std::int64_t width : widths) {
        parts.push_back({start, width});
        start += width;
    }
    require(start == x.width(), where(x, "split"), "widths add up to ", start, ", the tensor is ", x.type());
    return x.graph().add(std::make_shared<const ColumnsOp>(std::move(parts)), {x});
}

Tensor concat(std::span<const Tensor> parts) {
    require(!parts.empty(), "concat: no parts");
    if (parts.size() == 1) return parts[0];
    std::vector<std::int64_t> widths;
    for (const Tensor& part : parts) widths.push_back(part.width());
    return join(parts[0].graph(), {parts.begin(), parts.end()}, parts[0].type(), std::move(widths));
}

Tensor slice(Tensor x, int axis, std::int64_t start, std::int64_t count) {
    const std::int64_t extent = x.shape()[axis];
    require(start >= 0 && count > 0 && start + count <= extent, where(x, "slice"), "elements [", start, ", ",
            start + count, ") of axis ", axis, " of ", x.type());
    if (count == extent) return x;
    std::vector<std::int64_t> extents(x.shape().extents().begin(), x.shape().extents().end());
    const auto at = extents.begin() + (axis < 0 ? axis + std::ssize(extents) : axis);
    const std::int64_t outer = std::accumulate(extents.begin(), at, std::int64_t{1}, std::multiplies<>());
    const std::int64_t inner = std::accumulate(at + 1, extents.end(), std::int64_t{1}, std::multiplies<>());
    *at = count;
    // Any slice is one of columns after this axis and all later ones are merged.
    const Tensor rows = at + 1 == extents.end() ? x : reshape(x, {outer, extent * inner});
    return reshape(add_one(x.graph(), ColumnsOp({{start * inner, count * inner}}), {rows}), Shape(extents));
}

Tensor permute(Tensor x, std::span<const int> axes) {
    const int rank = static_cast<int>(x.shape().rank());
    std::vector<int> order,
        moved;  // axes counted from the front; those of them that have more than one element
    std::vector<std::int64_t> extents;
    for (const int axis : axes) {
        extents.push_back(x.shape()[axis]);
        order.push_back(axis < 0 ? axis + rank : axis);
        if (extents.back() > 1) moved.push_back(order.back());
    }
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < sorted.size(); ++k)
        require(std::ssize(sorted) == rank && sorted[k] == static_cast<int>(k), where(x, "permute"),
                "not every axis once for ", x.type());
    if (std::is_sorted(moved.begin(), moved.end())) return reshape(x, Shape(extents));
    return add_one(x.graph(), PermuteOp(std::move(order)), {x});
}

Tensor contiguous(Tensor x) {
    if (x.contiguous()) return x;
    std::vector<int> axes(x.shape().rank());
    std::iota(axes.begin(), axes.end(), 0);
    return add_one(x.graph(), PermuteOp(std::move(axes)), {x});
}

}  // namespace vkf
