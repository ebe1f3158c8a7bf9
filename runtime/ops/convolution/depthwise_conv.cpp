// Depthwise convolution, forward and backward. The kernels take weights [K·K, C], of which neighbouring channels are
// neighbours in memory as they are in x.
#include "ops/convolution/depthwise_conv.h"

#include <array>

#include "base/error.h"
#include "base/integers.h"
#include "ops/convolution/policy.h"
#include "ops/movement/view.h"
#include "ops/rows/rows.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Calls visit(y's row, x's row, tap) for every pixel, in order, and every tap that meets a pixel of its image. Rows
/// are tokens of all samples.
template <class Visit>
void each_tap(const TokenGrid& grid, std::int64_t side, std::int64_t samples, const Visit& visit) {
    const std::int64_t half = side / 2;
    for (std::int64_t b = 0; b < samples; ++b) {
        const std::int64_t image = b * grid.tokens() + grid.leading;
        for (std::int64_t i = 0; i < grid.height; ++i)
            for (std::int64_t j = 0; j < grid.width; ++j)
                for (std::int64_t tap = 0; tap < side * side; ++tap) {
                    const std::int64_t row = i + tap / side - half, column = j + tap % side - half;
                    if (row >= 0 && row < grid.height && column >= 0 && column < grid.width)
                        visit(image + i * grid.width + j, image + row * grid.width + column, tap);
                }
    }
}

void require_tokens(const TensorType& x, const TokenGrid& grid) {
    require(x.dtype == DType::f32 && x.shape.rank() == 3 && x.shape[1] == grid.tokens(), "wants f32[B, ", grid.tokens(),
            ", C] for ", grid.leading, " tokens and ", grid.height, "x", grid.width, " pixels, not ", x);
}

/// Gradients of weight and, if wanted, bias as one tensor [K·K, C] or [K·K + 1, C], the bias last. Inputs: x, d_y.
class DepthwiseConvBackwardOp : public Op {
public:
    DepthwiseConvBackwardOp(const TokenGrid& grid, std::int64_t side, bool bias)
        : grid_(grid), side_(side), bias_(bias) {}

    std::string_view name() const override { return "depthwise_conv_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require_tokens(in[0], grid_);
        require(in[0] == in[1], "x is ", in[0], ", the gradient of the result ", in[1]);
        return {{DType::f32, {rows(), in[0].shape.width()}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::int64_t channels = in[0].shape.width(), middle = side_ * side_ / 2;
        each_tap(grid_, side_, in[0].shape[0], [&](std::int64_t y, std::int64_t x, std::int64_t tap) {
            for (std::int64_t c = 0; c < channels; ++c) {
                const double d = in[1].at[as_index(y * channels + c)];
                out[0].at[as_index(tap * channels + c)] += d * in[0].at[as_index(x * channels + c)];
                // The middle tap meets every pixel once.
                if (bias_ && tap == middle) out[0].at[as_index(side_ * side_ * channels + c)] += d;
            }
        });
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0], d_y = lowering.in[1];
        const std::int64_t channels = x.width(), taps = even_part(side_, conv_strip);
        const std::int64_t blocks = (side_ + taps - 1) / taps, pairs = (channels + 1) / 2;
        const std::int64_t pixel_rows = x.shape()[0] * grid_.height, width = rows() * channels;
        const std::int64_t invocations = pairs * blocks * (side_ + (bias_ ? 1 : 0));
        const ConvRuns cut = conv_runs(lowering.device, invocations, pixel_rows);
        const bool direct = cut.runs == 1;
        const ArgValue partial = direct ? ArgValue{lowering.out[0]} : ArgValue{lowering.scratch(cut.runs * width)};
        const double read = 2.0 * static_cast<double>(x.elements());
        lowering.dispatch({.kernel = "depthwise_conv_backward",
                           .constants = {{"GROUP", cut.group},
                                         {"K", checked_u32(side_)},
                                         {"TAPS", checked_u32(taps)},
                                         {"LAYOUT_X", vector_layout(x)},
                                         {"LAYOUT_DY", vector_layout(d_y)}},
                           .args = {{"x", x},
                                    {"d_y", d_y},
                                    {"partial", partial},
                                    {"invocations", checked_u32(invocations)},
                                    {"run_groups", checked_u32(cut.groups)},
                                    {"run", checked_u32(cut.run)},
                                    {"rows", checked_u32(pixel_rows)},
                                    {"channels", checked_u32(channels)},
                                    {"height", checked_u32(grid_.height)},
                                    {"width", checked_u32(grid_.width)},
                                    {"leading", checked_u32(grid_.leading)},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"d_pitch", checked_u32(d_y.pitch())},
                                    {"sums", checked_u32(width)}},
                           .groups = static_cast<std::uint64_t>(cut.groups * cut.runs),
                           .flops = static_cast<double>(side_ * side_) * read,
                           .bytes = 4.0 * (read + static_cast<double>(cut.runs * width))});
        if (!direct) sum_columns(lowering, partial, cut.runs, width, width, lowering.out[0]);
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b11}; }

private:
    std::int64_t rows() const { return side_ * side_ + (bias_ ? 1 : 0); }

    TokenGrid grid_;
    std::int64_t side_;
    bool bias_;
};

/// The convolution; `flipped`: with the taps in reverse order, which makes the gradient of x from that of y. Inputs: x,
/// weight [K·K, C], and bias [C] or none.
class DepthwiseConvOp : public Op {
public:
    DepthwiseConvOp(const TokenGrid& grid, std::int64_t side, bool flipped)
        : grid_(grid), side_(side), flipped_(flipped) {}

    std::string_view name() const override { return "depthwise_conv"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require_tokens(in[0], grid_);
        const std::int64_t channels = in[0].shape.width();
        require(in[1].dtype == DType::f32 && in[1].shape == Shape({side_ * side_, channels}), "the kernels are ", in[1],
                " in memory, x has ", channels, " channels");
        require(in[2].dtype == DType::f32 && (in[2].shape == Shape{0} || in[2].shape == Shape{channels}), "bias is ",
                in[2], ", x has ", channels, " channels");
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::int64_t channels = in[0].shape.width(), middle = side_ * side_ / 2;
        each_tap(grid_, side_, in[0].shape[0], [&](std::int64_t y, std::int64_t x, std::int64_t tap) {
            const std::int64_t weight = flipped_ ? side_ * side_ - 1 - tap : tap;
            for (std::int64_t c = 0; c < channels; ++c) {
                double& sum = out[0].at[as_index(y * channels + c)];
                sum += in[1].at[as_index(weight * channels + c)] * in[0].at[as_index(x * channels + c)];
                if (tap == middle && !in[2].at.empty()) sum += in[2].at[as_index(c)];
            }
        });
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const Tensor x = at.in[0], d_y = at.d_out[0];
        Tensor d_x, d_weight, d_bias;
        if (at.wanted[0]) d_x = add_one(x.graph(), DepthwiseConvOp(grid_, side_, !flipped_), {d_y, at.in[1], Tensor()});
        if (at.wanted[1] || at.wanted[2]) {
            require(!flipped_, "the weight of a gradient has no derivative");
            const Tensor sums = add_one(x.graph(), DepthwiseConvBackwardOp(grid_, side_, at.wanted[2]), {x, d_y});
            if (at.wanted[1]) d_weight = slice(sums, 0, 0, side_ * side_);
            if (at.wanted[2]) d_bias = reshape(slice(sums, 0, side_ * side_, 1), {x.width()});
        }
        return std::vector{d_x, d_weight, d_bias};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0], weight = lowering.in[1], bias = lowering.in[2], y = lowering.out[0];
        const std::int64_t channels = x.width(), strip = even_part(grid_.width, conv_strip);
        const std::int64_t parts = grid_.leading + grid_.height * ((grid_.width + strip - 1) / strip);
        const std::int64_t strips = x.shape()[0] * parts * ((channels + 1) / 2);
        const ConvStrips cut = conv_strips(lowering.device, strips);
        const std::array parameters{weight, bias};
        const auto count = static_cast<double>(x.elements());
        lowering.dispatch({.kernel = "depthwise_conv",
                           .constants = {{"GROUP", cut.group},
                                         {"K", checked_u32(side_)},
                                         {"STRIP", checked_u32(strip)},
                                         {"FLIPPED", flipped_},
                                         {"BIAS", static_cast<bool>(bias)},
                                         {"LAYOUT_X", vector_layout(x)},
                                         {"LAYOUT_Y", vector_layout(y)},
                                         {"LAYOUT_W", vector_layout(parameters)}},
                           .args = {{"x", x},
                                    {"weight", weight},
                                    {"bias", bias ? ArgValue{bias} : ArgValue{}},
                                    {"y", y},
                                    {"strips", checked_u32(strips)},
                                    {"per_group", cut.per_group},
                                    {"channels", checked_u32(channels)},
                                    {"height", checked_u32(grid_.height)},
                                    {"width", checked_u32(grid_.width)},
                                    {"leading", checked_u32(grid_.leading)},
                                    {"x_pitch", checked_u32(x.pitch())}},
                           .groups = cut.groups,
                           .flops = 2.0 * static_cast<double>(side_ * side_) * count,
                           .bytes = 8.0 * count});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b1, .half_out = 0b1}; }

private:
    TokenGrid grid_;
    std::int64_t side_;
    bool flipped_;
};

}  // namespace

Tensor depthwise_conv(Tensor x, Tensor weight, Tensor bias, const TokenGrid& grid) {
    const Shape& kernels = weight.shape();
    const std::string where = text(x.graph().scope, x.graph().scope.empty() ? "" : ": ", "depthwise_conv: ");
    require(kernels.rank() == 4 && kernels[1] == 1 && kernels[2] == kernels[3], where, "the weight is ", kernels,
            ", wanted [C, 1, K, K]");
    const std::int64_t side = kernels[2];
    require(side % 2 == 1, where, "the kernel's side is ", side,
            ", wanted an odd number: no tap of an even one is the middle");
    require(grid.height >= 1 && grid.width >= 1 && grid.leading >= 0, where, "an image of ", grid.height, "x",
            grid.width, " pixels after ", grid.leading, " tokens");
    const Tensor by_tap = permute(reshape(weight, {kernels[0], side * side}), std::array{1, 0});
    return add_one(x.graph(), DepthwiseConvOp(grid, side, false), {x, by_tap, bias});
}

}  // namespace vkf
