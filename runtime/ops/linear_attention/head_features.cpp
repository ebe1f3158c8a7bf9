#include "ops/linear_attention/head_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/integers.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

enum FeatureOperand : std::size_t { heads_in, feature_lengths, feature_key_lengths, d_features };

bool appends_one(HeadFeatureMap map) {
    return map == HeadFeatureMap::with_one || map == HeadFeatureMap::taylor;
}

/// 1 / ‖x‖, or 0 where <x, x> is 0 or subnormal in fp32.
double inverse_norm(std::span<const double> x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return sum < static_cast<double>(std::numeric_limits<float>::min()) ? 0.0 : 1.0 / std::sqrt(sum);
}

double mapped(HeadFeatureMap map, double x) {
    if (map == HeadFeatureMap::elu) return x > 0 ? x + 1 : std::exp(x);
    return map == HeadFeatureMap::relu ? std::max(0.0, x) : x;
}

double map_slope(HeadFeatureMap map, double x) {
    if (map == HeadFeatureMap::elu) return x > 0 ? 1 : std::exp(x);
    return map == HeadFeatureMap::relu && x <= 0 ? 0 : 1;
}

/// Calls `visit(x, y)` with the first elements of each head's row of x and of the matrices' row that holds it.
template <class Visit>
void each_head(const HeadChunks& chunks, std::span<const Array> in, std::int64_t columns, const Visit& visit) {
    const Shape& x = in[heads_in].shape;
    for (std::int64_t b = 0; b < x[0]; ++b) {
        const MaskRow counted = chunks.counted(x[1], b, in[feature_lengths], in[feature_key_lengths]);
        for (std::int64_t place = 0; place < x[1] * chunks.heads; ++place) {
            const auto row = chunks.matrix_row(counted, b, place / chunks.heads, place % chunks.heads);
            if (row)
                visit(as_index((b * x[1] * chunks.heads + place) * (x[2] / chunks.heads)), as_index(*row * columns));
        }
    }
}

/// Constants and arguments of both directions.
void append_features(Dispatch& made, HeadFeatureMap map, Tensor x, Tensor y) {
    made.constants.insert(made.constants.end(),
                          {{"MAP", static_cast<std::uint32_t>(map)}, {"LAYOUT_Y", vector_layout(y)}});
    made.flops = 4.0 * static_cast<double>(y.elements());
    made.bytes = 4.0 * static_cast<double>(x.elements() + y.elements());
}

std::uint32_t layout_of_heads(Tensor x, std::int64_t heads) {
    return vector_layout(x, even(x) && x.width() / heads % 2 == 0);
}

/// d_x from x, the lengths and the gradient of the features. Rows that do not count get 0.
class HeadFeaturesBackwardOp : public Op {
public:
    HeadFeaturesBackwardOp(HeadFeatureMap map, const HeadChunks& chunks) : map_(map), chunks_(chunks) {}

    std::string_view name() const override { return "head_features_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const std::int64_t columns = feature_columns(map_, in[heads_in].shape.width() / chunks_.heads);
        const TensorType wanted = chunks_.matrices(in[heads_in], columns);
        require(in[d_features] == wanted, "the gradient is ", in[d_features], ", wanted ", wanted);
        return {in[heads_in]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = as_index(in[heads_in].shape.width() / chunks_.heads);
        each_head(chunks_, in, in[d_features].shape.width(), [&](std::size_t x_at, std::size_t y_at) {
            const double *x = &in[heads_in].at[x_at], *d_y = &in[d_features].at[y_at];
            double* d_x = &out[0].at[x_at];
            const double norm = map_ == HeadFeatureMap::taylor ? inverse_norm({x, width}) : 1.0;
            double along = 0;  // <d_y, x> / <x, x>
            for (std::size_t j = 0; j < width && map_ == HeadFeatureMap::taylor; ++j)
                along += d_y[j] * x[j] * norm * norm;
            for (std::size_t j = 0; j < width; ++j) d_x[j] = norm * map_slope(map_, x[j]) * (d_y[j] - along * x[j]);
        });
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[heads_in], d_y = lowering.in[d_features], d_x = lowering.out[0];
        Dispatch made = chunks_.by_heads(lowering.device, x.shape(), d_y.width(), lowering.in[feature_lengths],
                                         lowering.in[feature_key_lengths]);
        made.kernel = "head_features_backward";
        append_features(made, map_, x, d_y);
        made.constants.insert(made.constants.end(), {{"LAYOUT_X", layout_of_heads(x, chunks_.heads)},
                                                     {"LAYOUT_DX", layout_of_heads(d_x, chunks_.heads)}});
        made.args.insert(made.args.end(), {{"x", x},
                                           {"d_y", d_y},
                                           {"d_x", d_x},
                                           {"x_pitch", checked_u32(x.pitch())},
                                           {"d_x_pitch", checked_u32(d_x.pitch())}});
        lowering.dispatch(std::move(made));
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        const bool pairs = in[heads_in].width() / chunks_.heads % 2 == 0;
        return {.half_in = (pairs ? 1u << heads_in : 0u) | 1u << d_features,
                .half_out = pairs ? 1u : 0u,
                .strided_outputs = 1u};
    }

private:
    HeadFeatureMap map_;
    HeadChunks chunks_;
};

class HeadFeaturesOp : public Op {
public:
    HeadFeaturesOp(HeadFeatureMap map, const HeadChunks& chunks) : map_(map), chunks_(chunks) {}

    std::string_view name() const override { return "head_features"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType& x = in[heads_in];
        chunks_.check(x, in[feature_lengths], in[feature_key_lengths]);
        return {chunks_.matrices(x, feature_columns(map_, x.shape.width() / chunks_.heads))};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = as_index(in[heads_in].shape.width() / chunks_.heads);
        each_head(chunks_, in, out[0].shape.width(), [&](std::size_t x_at, std::size_t y_at) {
            const std::span<const double> x{&in[heads_in].at[x_at], width};
            const double factor = map_ == HeadFeatureMap::taylor ? inverse_norm(x) : 1.0;
            for (std::size_t j = 0; j < width; ++j) out[0].at[y_at + j] = factor * mapped(map_, x[j]);
            if (appends_one(map_)) out[0].at[y_at + width] = 1;
        });
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{add_one(at.in[heads_in].graph(), HeadFeaturesBackwardOp(map_, chunks_),
                                   {at.in[heads_in], at.in[feature_lengths], at.in[feature_key_lengths], at.d_out[0]}),
                           Tensor(), Tensor()};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[heads_in], y = lowering.out[0];
        Dispatch made = chunks_.by_matrices(lowering.device, x.shape(), y.width(), lowering.in[feature_lengths],
                                            lowering.in[feature_key_lengths]);
        made.kernel = "head_features";
        append_features(made, map_, x, y);
        made.constants.emplace_back("LAYOUT_X", layout_of_heads(x, chunks_.heads));
        made.args.insert(made.args.end(), {{"x", x}, {"y", y}, {"x_pitch", checked_u32(x.pitch())}});
        lowering.dispatch(std::move(made));
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        const bool pairs = in[heads_in].width() / chunks_.heads % 2 == 0;
        return {.half_in = pairs ? 1u << heads_in : 0u, .half_out = 1u};
    }

private:
    HeadFeatureMap map_;
    HeadChunks chunks_;
};

}  // namespace

std::int64_t feature_columns(HeadFeatureMap map, std::int64_t width) {
    return ceil_div(width + (appends_one(map) ? 1 : 0), 8) * 8;
}

Tensor head_features(Tensor x, HeadFeatureMap map, const HeadChunks& chunks) {
    return add_one(x.graph(), HeadFeaturesOp(map, chunks), {x, chunks.lengths, chunks.key_lengths});
}

}  // namespace vkf
