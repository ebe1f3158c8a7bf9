// Sums over the last axis, over all rows, and down to any shape that broadcasts; and the broadcast itself.
#include "ops/rows/reduce.h"

#include <algorithm>

#include "base/error.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/movement/copy.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/rows/rows.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

std::int64_t divided(std::int64_t count, std::int64_t by) {
    return (count + by - 1) / by;
}

/// Longest run of at most `most` rows that divides `rows`; all rows if that is shorter than 16.
std::int64_t whole_run(std::int64_t rows, std::int64_t most) {
    for (std::int64_t run = std::min(rows, most); run >= 16; --run)
        if (rows % run == 0) return run;
    return rows;
}

class RowSumOp : public Op {
public:
    std::string_view name() const override { return "row_sum"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0].shape.rank() > 0, "wants f32[..., C], not ", in[0]);
        return {{DType::f32, in[0].shape.with_width(1)}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        for (std::size_t i = 0; i < in[0].at.size(); ++i) out[0].at[i / width] += in[0].at[i];
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{broadcast_to(at.d_out[0], at.in[0].shape())};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        const auto [narrow, group, per_group] = row_sums(lowering.device, x.rows(), x.width());
        lowering.dispatch({.kernel = "row_sum",
                           .constants = {{"GROUP", group}, {"NARROW", narrow}, {"LAYOUT", vector_layout(x)}},
                           .args = {{"x", x},
                                    {"y", lowering.out[0]},
                                    {"rows", checked_u32(x.rows())},
                                    {"width", checked_u32(x.width())},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"per_group", checked_u32(per_group)}},
                           .groups = static_cast<std::uint64_t>(divided(x.rows(), per_group)),
                           .flops = static_cast<double>(x.elements()),
                           .bytes = 4.0 * static_cast<double>(x.elements() + x.rows())});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b1}; }
};

/// Σ over all rows, [..., C] → [C]; `batched` over the rows of each matrix, [B, R, C] → [B, C]. Input 1, factors of the
/// rows, may be absent, and is absent if batched.
class ColumnSumOp : public Op {
public:
    explicit ColumnSumOp(bool batched) : batched_(batched) {}

    std::string_view name() const override { return "column_sum"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& x = in[0].shape;
        require(in[0].dtype == DType::f32 && (!batched_ || x.rank() == 3), "wants f32", batched_ ? "[B, R, C]" : "",
                ", not ", in[0]);
        const Shape& scales = in[1].shape;
        require(scales == Shape{0} || (!batched_ && leads(scales, x)), "row_scale is ", scales,
                ", wanted leading extents of ", x, " and ones");
        return {{DType::f32, batched_ ? Shape{x[0], x[2]} : Shape{x.width()}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        const std::size_t matrix = batched_ ? static_cast<std::size_t>(in[0].shape[1]) * width : in[0].at.size();
        const std::size_t per_scale = in[1].at.empty() ? 0 : in[0].at.size() / in[1].at.size();
        for (std::size_t i = 0; i < in[0].at.size(); ++i)
            out[0].at[i / matrix * width + i % width] += in[0].at[i] * (per_scale ? in[1].at[i / per_scale] : 1.0);
        return true;
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        return in[1] ? std::vector{column_sum(mul(in[0], in[1]))} : std::vector<Tensor>();
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        if (at.in[1]) return std::nullopt;
        const Shape& x = at.in[0].shape();
        const Tensor d = batched_ ? reshape(at.d_out[0], {x[0], 1, x[2]}) : at.d_out[0];
        return std::vector{broadcast_to(d, x), Tensor()};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        sum_columns(lowering, x, x.rows(), x.width(), x.pitch(), lowering.out[0], batched_ ? x.shape()[0] : 1,
                    row_scale_of(lowering.in[1], x));
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b1}; }

private:
    bool batched_;
};

/// Copies the words of integers; a broadcast of floats is a step of the kernel that reads it, if that can take it.
class BroadcastOp : public ElementwiseOp {
public:
    explicit BroadcastOp(Shape shape)
        : ElementwiseOp({{.kind = ElementStep::Kind::scale, .number = 1.0f}}), shape_(std::move(shape)) {}

    std::string_view name() const override { return "broadcast_to"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(broadcasts(in[0].shape, shape_), "cannot broadcast ", in[0].shape, " to ", shape_);
        return {{in[0].dtype, shape_}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::vector<BroadcastAxis> axes = broadcast_axes(std::span(&in[0].shape, 1), shape_);
        for (std::size_t i = 0; i < out[0].at.size(); ++i) out[0].at[i] = in[0].at[broadcast_index(axes, 0, i)];
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{sum_to(at.d_out[0], at.in[0].shape())};
    }

    void lower(Lowering& lowering) const override {
        if (lowering.in[0].dtype() == DType::f32) return ElementwiseOp::lower(lowering);
        std::vector<CopyAxis> axes;
        std::int64_t elements = shape_.elements();
        for (const BroadcastAxis& axis : broadcast_axes(std::span(&lowering.in[0].shape(), 1), shape_)) {
            elements /= axis.extent;
            axes.push_back({axis.extent, axis.strides[0], elements});
        }
        lowering.dispatch(strided_copy(lowering.device, lowering.in[0], lowering.out[0], axes));
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        return in[0].dtype() == DType::f32 ? ElementwiseOp::kernel_traits(in) : KernelTraits{};
    }
    bool may_alias(std::size_t, std::size_t) const override { return false; }

private:
    Shape shape_;
};

}  // namespace

void sum_columns(Lowering& lowering, ArgValue from, std::int64_t rows, std::int64_t width, std::int64_t pitch,
                 ArgValue into, std::int64_t sums, const RowScale& scale) {
    const std::uint32_t group = row_group(lowering.device, divided(width, 2));
    const std::int64_t pairs = column_pairs(lowering.device, width, group);
    const std::int64_t blocks = divided(width, 2 * group * pairs);
    const std::int64_t wanted = divided(std::int64_t{lowering.device.compute_units} * 8, blocks);
    const std::int64_t each = rows / sums;
    std::int64_t run = divided(rows, std::clamp<std::int64_t>(rows / 16, 1, wanted));
    if (sums > 1) run = whole_run(each, run);
    const std::int64_t runs = divided(rows, run);
    const auto pass = [&](ArgValue x, std::int64_t x_rows, std::int64_t x_pitch, std::int64_t length, ArgValue y,
                          const RowScale& factors) {
        const std::int64_t made = divided(x_rows, length);
        const auto* tensor = std::get_if<Tensor>(&x);
        const std::uint32_t form =
            vector_layout(tensor ? *tensor : Tensor(), width % 2 == 0 && x_pitch % 2 == 0 && even(x) && even(y));
        lowering.dispatch({.kernel = "column_sum",
                           .constants = {{"GROUP", group},
                                         {"PAIRS", checked_u32(pairs)},
                                         {"LAYOUT", form},
                                         {"ROW_SCALE", !std::holds_alternative<std::monostate>(factors.at)}},
                           .args = {{"x", x},
                                    {"row_scale", factors.at},
                                    {"y", y},
                                    {"rows", checked_u32(x_rows)},
                                    {"width", checked_u32(width)},
                                    {"x_pitch", checked_u32(x_pitch)},
                                    {"run", checked_u32(length)},
                                    {"rows_per_scale", checked_u32(factors.rows)}},
                           .groups = static_cast<std::uint64_t>(blocks * made),
                           .flops = static_cast<double>(x_rows * width),
                           .bytes = 4.0 * static_cast<double>((x_rows + made) * width)});
    };
    if (runs == sums) return pass(from, rows, pitch, each, into, scale);
    const Scratch partial = lowering.scratch(runs * width);
    pass(from, rows, pitch, run, partial, scale);
    pass(partial, runs, width, runs / sums, into, {});
}

Tensor row_sum(Tensor x) {
    return add_one(x.graph(), RowSumOp(), {x});
}

Tensor column_sum(Tensor x, Tensor row_scale) {
    return add_one(x.graph(), ColumnSumOp(false), {x, row_scale ? contiguous(row_scale) : row_scale});
}

Tensor sum_to(Tensor x, const Shape& shape) {
    if (x.shape() == shape) return x;
    require(broadcasts(shape, x.shape()), x.graph().scope, x.graph().scope.empty() ? "" : ": ", "sum_to: ", shape,
            " does not broadcast to ", x.shape());
    if (shape.elements() == 1) {  // a total: the rows' sums, then their sum
        if (x.width() > 1) x = row_sum(x);
        if (x.elements() > 1) x = row_sum(reshape(x, {1, x.elements()}));
        return reshape(x, shape);
    }
    // Axes to keep and axes to sum over alternate. Innermost first, so that x gets small.
    std::int64_t inner = 1;  // elements of the axes kept so far
    const std::vector<BroadcastAxis> axes = broadcast_axes(std::span(&shape, 1), x.shape());
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        if (axis->strides[0] != 0) {
            inner *= axis->extent;
            continue;
        }
        const std::int64_t outer = x.elements() / axis->extent / inner;
        if (inner == 1)
            x = row_sum(reshape(x, {outer, axis->extent}));
        else if (outer == 1)
            x = column_sum(reshape(x, {axis->extent, inner}));
        else
            x = add_one(x.graph(), ColumnSumOp(true), {reshape(x, {outer, axis->extent, inner}), Tensor()});
    }
    return reshape(x, shape);
}

Tensor broadcast_to(Tensor x, const Shape& shape) {
    if (x.shape() == shape) return x;
    return add_one(x.graph(), BroadcastOp(shape), {contiguous(x)});
}

}  // namespace vkf
