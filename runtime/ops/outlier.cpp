// Gradients that are outliers: the z-score of their norm among the last ones.
#include "ops/outlier.h"

#include <cmath>

#include "base/error.h"

namespace vkf {

namespace {

/// How many standard deviations the value lies above the mean of the window, which holds it.
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

    void lower(Lowering& to) const override {
        const std::int64_t size = to.in[2].elements() - 1;
        to.dispatch({.kernel = "skip_outliers",
                     .constants = {{"GROUP", row_group(to.device, size)}},
                     .args = {{"norm", to.in[0]},
                              {"clip", to.in[1]},
                              {"state", to.in[2]},
                              {"z_score", to.out[0]},
                              {"new_clip", to.out[1]},
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
