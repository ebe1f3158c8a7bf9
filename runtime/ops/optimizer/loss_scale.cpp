// Dynamic loss scaling: factor for gradients that were computed too large, and scale of the next ones.
#include "ops/optimizer/loss_scale.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/rows/policy.h"

namespace vkf {

namespace {

/// Inputs: the norm of the scaled gradients, the state. Outputs: the norm of the unscaled gradients, the clip factor,
/// the new state in place.
class LossScaleOp : public Op {
public:
    explicit LossScaleOp(const LossScaleOptions& options) : options_(options) {}

    std::string_view name() const override { return "loss_scale"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType scalar{DType::f32, {}}, state{DType::f32, {2}};
        require(in[0] == scalar && in[1] == state, "the norm is ", in[0], ", the state ", in[1],
                "; wanted f32[] and f32[2]");
        return {scalar, scalar, state};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const double scale = in[1].at[0], steps = in[1].at[1] + 1;
        const double norm = in[0].at[0] / scale, ratio = static_cast<double>(options_.limit) / (norm + 1e-6);
        // In fp32, as in the kernel.
        const bool good = std::isfinite(static_cast<float>(in[0].at[0]));
        const bool grows = good && steps >= static_cast<double>(options_.growth_interval);
        out[0].at[0] = norm;
        out[1].at[0] = !good ? -1 : (options_.limit == 0.0f || ratio >= 1 ? 1 : ratio) / scale;
        out[2].at = {grows ? std::min(2 * scale, 0x1p100) : good ? scale : scale / 2, grows || !good ? 0 : steps};
        return true;
    }

    void lower(Lowering& lowering) const override {
        lowering.dispatch({.kernel = "loss_scale",
                           .constants = {{"GROUP", row_group(lowering.device, 1)}},
                           .args = {{"scaled", lowering.in[0]},
                                    {"state", lowering.in[1]},
                                    {"norm", lowering.out[0]},
                                    {"clip", lowering.out[1]},
                                    {"limit", options_.limit},
                                    {"interval", static_cast<float>(options_.growth_interval)}},
                           .flops = 8,
                           .bytes = 28});
    }

    std::optional<std::size_t> updates(std::size_t output) const override {
        return output == 2 ? std::optional<std::size_t>(1) : std::nullopt;
    }

private:
    LossScaleOptions options_;
};

}  // namespace

Unscaled unscale(Tensor norm, Tensor state, const LossScaleOptions& options) {
    require(options.limit >= 0.0f, "unscale: the limit is ", options.limit);
    require(options.growth_interval >= 1, "unscale: the growth interval is ", options.growth_interval,
            ", wanted at least 1");
    const std::vector<Tensor> out = norm.graph().add(std::make_shared<const LossScaleOp>(options), {norm, state});
    return {out[0], out[1], out[2]};
}

}  // namespace vkf
