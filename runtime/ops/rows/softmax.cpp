// softmax over the columns that a row sees, and its derivative.
#include "ops/rows/softmax.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// `queries` of [..., queries, width].
std::int64_t queries_of(const Shape& shape) {
    return shape.rank() > 1 ? shape[-2] : 1;
}

/// Neighbouring rows that have one of `lengths` lengths; all rows without lengths.
std::int64_t rows_of_a_length(const Shape& shape, std::int64_t lengths) {
    return std::max<std::int64_t>(1, shape.rows() / std::max<std::int64_t>(1, lengths));
}

class SoftmaxBackwardOp : public Op {
public:
    std::string_view name() const override { return "softmax_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0] == in[1], "y is ", in[0], ", its gradient ", in[1]);
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        const std::vector<double>&y = in[0].at, &d_y = in[1].at;
        for (std::size_t at = 0; at < y.size(); at += width) {
            double sum = 0;
            for (std::size_t j = at; j < at + width; ++j) sum += y[j] * d_y[j];
            for (std::size_t j = at; j < at + width; ++j) out[0].at[j] = y[j] * (d_y[j] - sum);
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor y = lowering.in[0];
        const PairRows grid = pair_rows(lowering.device, y.rows(), y.width());
        lowering.dispatch({.kernel = "softmax_backward",
                           .constants = {{"GROUP", grid.group},
                                         {"WIDTH", checked_u32(y.width())},
                                         {"STRIP", grid.strip},
                                         {"LAYOUT", grid.form({y, lowering.in[1], lowering.out[0]})}},
                           .args = {{"y", y},
                                    {"d_y", lowering.in[1]},
                                    {"d_x", lowering.out[0]},
                                    {"rows", checked_u32(y.rows())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 4.0 * static_cast<double>(y.elements()),
                           .bytes = 12.0 * static_cast<double>(y.elements())});
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        return {.half_in = 0b11, .half_out = 0b1, .uniform = true};
    }
};

class SoftmaxOp : public Op {
public:
    explicit SoftmaxOp(const AttentionMask& mask) : mask_(mask) {}

    std::string_view name() const override { return "softmax"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32, "wants f32, not ", in[0]);
        require(!mask_.query_lengths, "takes no lengths of queries");
        require(!mask_.key_lengths || in[0].shape.rank() > 1, "has lengths of keys for ", in[0],
                ", wanted [B, ..., S]");
        mask_.check(in[0].shape.rank() > 0 ? in[0].shape[0] : 1, {}, in.size() > 1 ? in[1] : TensorType());
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::int64_t queries = queries_of(in[0].shape);
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        const std::vector<double> lengths = mask_.key_lengths ? in[1].at : std::vector<double>();
        const auto rows_per_length = static_cast<std::size_t>(rows_of_a_length(in[0].shape, std::ssize(lengths)));
        for (std::size_t row = 0; row * width < in[0].at.size(); ++row) {
            const double* x = in[0].at.data() + row * width;
            double* y = out[0].at.data() + row * width;
            const MaskRow mask =
                mask_.row(queries, in[0].shape.width(), static_cast<std::int64_t>(row / rows_per_length), {}, lengths);
            const auto sees = [&](std::size_t j) {
                return mask.visible(static_cast<std::int64_t>(row) % queries, static_cast<std::int64_t>(j));
            };
            double top = -INFINITY, sum = 0;
            for (std::size_t j = 0; j < width; ++j)
                if (sees(j)) top = std::max(top, x[j]);
            for (std::size_t j = 0; j < width; ++j) sum += y[j] = sees(j) ? std::exp(x[j] - top) : 0.0;
            for (std::size_t j = 0; j < width && sum > 0; ++j) y[j] /= sum;
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        std::vector<Tensor> d_in(at.in.size());
        d_in[0] = add_one(at.in[0].graph(), SoftmaxBackwardOp(), {at.out[0], contiguous(at.d_out[0])});
        return d_in;
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        const PairRows grid = pair_rows(lowering.device, x.rows(), x.width());
        const std::int64_t queries = queries_of(x.shape());
        const Tensor lengths = lowering.in.size() > 1 ? lowering.in[1] : Tensor();
        const std::int64_t rows_per_length = rows_of_a_length(x.shape(), lengths ? lengths.elements() : 0);
        Table random;
        mask_.append_random_blocks(random, queries, x.width());
        lowering.dispatch({.kernel = "softmax",
                           .constants = {{"GROUP", grid.group},
                                         {"WIDTH", checked_u32(x.width())},
                                         {"STRIP", grid.strip},
                                         {"LAYOUT", grid.form({x, lowering.out[0]})},
                                         {"LENGTHS", static_cast<bool>(lengths)}},
                           .args = {{"x", x},
                                    {"y", lowering.out[0]},
                                    {"rows", checked_u32(x.rows())},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"queries", checked_u32(queries)},
                                    {"per_group", grid.per_group},
                                    {"lengths", lengths},
                                    {"rows_per_length", checked_u32(rows_per_length)},
                                    {"random", std::move(random)}},
                           .groups = grid.groups,
                           .flops = 30.0 * static_cast<double>(x.elements()),
                           .bytes = 8.0 * static_cast<double>(x.elements())});
        mask_.append_pattern(lowering.dispatches.back(), queries, x.width());
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        return {.half_in = 0b1, .half_out = 0b1, .uniform = true};
    }

private:
    AttentionMask mask_;
};

}  // namespace

Tensor softmax(Tensor x, const AttentionMask& mask) {
    std::vector<Tensor> in{x};
    if (mask.key_lengths) in.push_back(mask.key_lengths);
    return add_one(x.graph(), SoftmaxOp(mask), in);
}

}  // namespace vkf
