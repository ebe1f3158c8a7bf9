// Detection of outliers among gradients, by the z-score of their norm among the last norms.
#include "ops/optimizer/outlier.h"

#include <cmath>

#include "base/error.h"
#include "ops/rows/policy.h"

namespace vkf {

namespace {

/// Distance in standard deviations of the value above the mean of the window, which contains the value.
double z_score(std::span<const double> window, double value) {
    const auto count = static_cast<double>(window.size());
    double sum = 0, squares = 0;
    for (const double x : window) sum += x;
    const double mean = sum / count;
    for (const double x : window) squares += (x - mean) * (x - mean);
    const double deviation = std::sqrt(squares / count);
    return deviation > 0 ? (value - mean) / deviation : 0;
}

/// Inputs: the norm, the clip factor, the state. Outputs: the z-score, the new clip factor, the new state in place.
class OutlierOp : public Op {
public:
    explicit OutlierOp(float limit) : limit_(limit) {}

    std::string_view name() const override { return "skip_outliers"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType scalar{DType::f32, {}};
        require(in[0] == scalar && in[1] == scalar && in[2].dtype == DType::f32 && in[2].shape.rank() == 1 &&
                    in[2].shape[0] >= 3,
                "the norm is ", in[0], ", the clip factor ", in[1], ", the state ", in[2],
                "; wanted f32[], f32[] and f32[1 + W], W at least 2");
        return {scalar, scalar, in[2]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const double norm = in[0].at[0], clip = in[1].at[0];
        out[2].at = in[2].at;
        out[0].at[0] = 0;
        out[1].at[0] = clip;
        if (clip < 0) return true;
        const std::span<double> window = std::span(out[2].at).subspan(1);
        const std::size_t size = window.size(), count = static_cast<std::size_t>(in[2].at[0]);
        window[count % size] = norm;
        out[2].at[0] = static_cast<double>(count + 1 == 2 * size ? size : count + 1);
        if (count < size) return true;
        out[0].at[0] = z_score(window, norm);
        if (out[0].at[0] > static_cast<double>(limit_)) out[1].at[0] = -1;
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::int64_t size = lowering.in[2].elements() - 1;
        lowering.dispatch({.kernel = "skip_outliers",
                           .constants = {{"GROUP", row_group(lowering.device, size)}},
                           .args = {{"norm", lowering.in[0]},
                                    {"clip", lowering.in[1]},
                                    {"state", lowering.in[2]},
                                    {"z_score", lowering.out[0]},
                                    {"new_clip", lowering.out[1]},
                                    {"size", static_cast<std::uint32_t>(size)},
                                    {"limit", limit_}},
                           .flops = 5 * static_cast<double>(size),
                           .bytes = 8 * static_cast<double>(size)});
    }

    std::optional<std::size_t> updates(std::size_t output) const override {
        return output == 2 ? std::optional<std::size_t>(2) : std::nullopt;
    }

private:
    float limit_;
};

}  // namespace

OutlierCheck skip_outliers(Tensor norm, Tensor clip, Tensor state, float limit) {
    require(limit > 0.0f, "skip_outliers: the limit is ", limit, ", wanted above 0");
    const std::vector<Tensor> out = norm.graph().add(std::make_shared<const OutlierOp>(limit), {norm, clip, state});
    return {out[0], out[1], out[2]};
}

}  // namespace vkf
