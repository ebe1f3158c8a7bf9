// LayerNorm and RMSNorm over the last axis; weight and bias may be absent.
#include "ops/rows/norm.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/rows/rows.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

struct NormKind {
    bool center;  // LayerNorm; else RMSNorm
    bool weight;
    bool bias;
};

void require_affine(const TensorType& x, const TensorType& affine, const char* what) {
    require(affine.dtype == DType::f32 && affine.shape == Shape{x.shape.width()}, what, " is ", affine,
            ", the rows of x have ", x.shape.width(), " elements");
}

/// d_x and, if wanted, [d_weight] or [d_weight, d_bias] as one tensor. Inputs: x, weight, d_y, rstd, mean, and the
/// addend of d_x.
class NormBackwardOp : public Op {
public:
    NormBackwardOp(NormKind kind, bool parameters) : kind_(kind), parameters_(parameters) {}

    std::string_view name() const override { return kind_.center ? "layer_norm_backward" : "rms_norm_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0] == in[2], "x is ", in[0], ", the gradient of the result ", in[2]);
        if (!parameters_) return {in[0]};
        return {in[0], {DType::f32, {in[0].shape.width() * (kind_.bias ? 2 : 1)}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        std::vector<double> g(width), n(width);
        for (std::size_t row = 0; row * width < in[0].at.size(); ++row) {
            const double* x = in[0].at.data() + row * width;
            const double* d_y = in[2].at.data() + row * width;
            const double rstd = in[3].at[row], mean = kind_.center ? in[4].at[row] : 0.0;
            double g_sum = 0, gn_sum = 0;
            for (std::size_t j = 0; j < width; ++j) {
                n[j] = (x[j] - mean) * rstd;
                g[j] = d_y[j] * (kind_.weight ? in[1].at[j] : 1.0);
                g_sum += kind_.center ? g[j] : 0.0;
                gn_sum += g[j] * n[j];
                if (parameters_) out[1].at[j] += d_y[j] * n[j];
                if (parameters_ && kind_.bias) out[1].at[width + j] += d_y[j];
            }
            const auto count = static_cast<double>(width);
            for (std::size_t j = 0; j < width; ++j)
                out[0].at[row * width + j] = rstd * (g[j] - g_sum / count - n[j] * gn_sum / count) +
                                             (in[more].at.empty() ? 0.0 : in[more].at[row * width + j]);
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        const Tensor weight = kind_.weight ? lowering.in[1] : Tensor();
        const Tensor addend = lowering.in[more];
        const PairRows grid = pair_rows(lowering.device, x.rows(), x.width(), norm_backward_groups(lowering.device));
        const auto groups = static_cast<std::int64_t>(grid.groups);
        const std::int64_t sums = x.width() * (kind_.bias ? 2 : 1);
        const bool direct = groups == 1;
        ArgValue partial;
        if (parameters_) partial = direct ? ArgValue{lowering.out[1]} : ArgValue{lowering.scratch(groups * sums)};
        lowering.dispatch({.kernel = "norm_backward",
                           .constants = {{"GROUP", grid.group},
                                         {"WIDTH", checked_u32(x.width())},
                                         {"STRIP", grid.strip},
                                         {"LAYOUT", grid.form({weight, addend})},
                                         {"LAYOUT_X", grid.form({x})},
                                         {"LAYOUT_DY", grid.form({lowering.in[2]})},
                                         {"CENTER", kind_.center},
                                         {"WEIGHT", kind_.weight},
                                         {"ADDEND", static_cast<bool>(addend)},
                                         {"D_WEIGHT", parameters_},
                                         {"D_BIAS", parameters_ && kind_.bias},
                                         // x, d_y and addend of this row and the next, weight, d_weight, d_bias
                                         {"PREFETCH", prefetches_rows(lowering.device, grid, x.width(), 9)}},
                           .args = {{"x", x},
                                    {"weight", kind_.weight ? ArgValue{weight} : ArgValue{}},
                                    {"d_y", lowering.in[2]},
                                    {"mean", kind_.center ? ArgValue{lowering.in[4]} : ArgValue{}},
                                    {"rstd", lowering.in[3]},
                                    {"addend", addend ? ArgValue{addend} : ArgValue{}},
                                    {"d_x", lowering.out[0]},
                                    {"partial", partial},
                                    {"rows", checked_u32(x.rows())},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 14.0 * static_cast<double>(x.elements()),
                           .bytes = (addend ? 16.0 : 12.0) * static_cast<double>(x.elements())});
        if (parameters_ && !direct) sum_columns(lowering, partial, groups, sums, sums, lowering.out[1]);
    }

    bool may_alias(std::size_t output, std::size_t input) const override {
        return output == 0 && (input == 0 || input == 2 || input == more);
    }
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        return {.half_in = 0b101, .epilogue_add = {{.output = 0, .addend = more}}};
    }

private:
    static constexpr std::size_t more = 5;

    NormKind kind_;
    bool parameters_;
};

/// y, rstd and, for LayerNorm, mean.
class NormOp : public Op {
public:
    NormOp(NormKind kind, float eps) : kind_(kind), eps_(eps) {}

    std::string_view name() const override { return kind_.center ? "layer_norm" : "rms_norm"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0].shape.rank() > 0, "wants f32[..., C], not ", in[0]);
        if (kind_.weight) require_affine(in[0], in[1], "weight");
        if (kind_.bias) require_affine(in[0], in[2], "bias");
        const TensorType per_row{DType::f32, {in[0].shape.rows()}};
        return kind_.center ? std::vector{in[0], per_row, per_row} : std::vector{in[0], per_row};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        const auto count = static_cast<double>(width);
        for (std::size_t row = 0; row * width < in[0].at.size(); ++row) {
            const double* x = in[0].at.data() + row * width;
            double mean = 0, variance = 0;
            for (std::size_t j = 0; kind_.center && j < width; ++j) mean += x[j] / count;
            for (std::size_t j = 0; j < width; ++j) variance += (x[j] - mean) * (x[j] - mean) / count;
            const double rstd = 1.0 / std::sqrt(variance + static_cast<double>(eps_));
            for (std::size_t j = 0; j < width; ++j)
                out[0].at[row * width + j] =
                    (x[j] - mean) * rstd * (kind_.weight ? in[1].at[j] : 1.0) + (kind_.bias ? in[2].at[j] : 0.0);
            out[1].at[row] = rstd;
            if (kind_.center) out[2].at[row] = mean;
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const Tensor x = at.in[0];
        const bool parameters = at.wanted[1] || at.wanted[2];
        const std::vector<Tensor> made = x.graph().add(
            std::make_shared<const NormBackwardOp>(kind_, parameters),
            {x, at.in[1], contiguous(at.d_out[0]), at.out[1], kind_.center ? at.out[2] : Tensor(), Tensor()});
        const std::int64_t width = x.width();
        Tensor d_weight, d_bias;
        if (at.wanted[1]) d_weight = kind_.bias ? slice(made[1], 0, 0, width) : made[1];
        if (at.wanted[2]) d_bias = slice(made[1], 0, width, width);
        return std::vector{at.wanted[0] ? made[0] : Tensor(), d_weight, d_bias};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        const Tensor weight = kind_.weight ? lowering.in[1] : Tensor(), bias = kind_.bias ? lowering.in[2] : Tensor();
        const PairRows grid = pair_rows(lowering.device, x.rows(), x.width(), norm_groups(lowering.device, x.width()));
        lowering.dispatch({.kernel = "norm",
                           .constants = {{"GROUP", grid.group},
                                         {"WIDTH", checked_u32(x.width())},
                                         {"STRIP", grid.strip},
                                         {"LAYOUT", grid.form({weight, bias})},
                                         {"LAYOUT_X", grid.form({x})},
                                         {"LAYOUT_Y", grid.form({lowering.out[0]})},
                                         {"CENTER", kind_.center},
                                         {"WEIGHT", kind_.weight},
                                         {"BIAS", kind_.bias},
                                         // x of this row and the next, weight, bias
                                         {"PREFETCH", prefetches_rows(lowering.device, grid, x.width(), 4)}},
                           .args = {{"x", x},
                                    {"weight", kind_.weight ? ArgValue{weight} : ArgValue{}},
                                    {"bias", kind_.bias ? ArgValue{bias} : ArgValue{}},
                                    {"y", lowering.out[0]},
                                    {"mean", kind_.center ? ArgValue{lowering.out[2]} : ArgValue{}},
                                    {"rstd", lowering.out[1]},
                                    {"rows", checked_u32(x.rows())},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"per_group", grid.per_group},
                                    {"eps", eps_}},
                           .groups = grid.groups,
                           .flops = 8.0 * static_cast<double>(x.elements()),
                           .bytes = 8.0 * static_cast<double>(x.elements())});
    }

    bool may_alias(std::size_t output, std::size_t input) const override { return output == 0 && input == 0; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b1, .half_out = 0b1}; }

private:
    NormKind kind_;
    float eps_;
};

Tensor norm(Tensor x, Tensor weight, Tensor bias, bool center, float eps) {
    const NormKind kind{center, static_cast<bool>(weight), static_cast<bool>(bias)};
    return x.graph().add(std::make_shared<const NormOp>(kind, eps), {x, weight, bias}).front();
}

}  // namespace

Tensor layer_norm(Tensor x, Tensor weight, Tensor bias, float eps) {
    return norm(x, weight, bias, true, eps);
}

Tensor rms_norm(Tensor x, Tensor weight, float eps) {
    return norm(x, weight, {}, false, eps);
}

}  // namespace vkf
