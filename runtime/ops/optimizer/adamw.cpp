// AdamW: steps by the running mean of the gradient over the root of the running mean of its square.

#include <cmath>

#include "ops/optimizer/optimizers.h"
#include "ops/optimizer/step.h"

namespace vkf {

namespace {

class AdamWOp : public OptimizerOp {
public:
    AdamWOp(std::vector<float> decays, const AdamOptions& options)
        : OptimizerOp(std::move(decays), 2), options_(options) {}

    std::string_view name() const override { return "adamw"; }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        if (skipped(in, out)) return true;
        const std::vector<double>& rate = rates(in).at;
        for (std::size_t s = 0; s < slots(); ++s) {
            const Array &p = in[4 * s], &gradient = in[4 * s + 1], &m = in[4 * s + 2], &v = in[4 * s + 3];
            for (std::size_t i = 0; i < p.at.size(); ++i) {
                const double g = clip(in) * gradient.at[i];
                const double new_m = options_.beta1 * m.at[i] + (1 - options_.beta1) * g;
                const double new_v = options_.beta2 * v.at[i] + (1 - options_.beta2) * g * g;
                const double decayed = p.at[i] * (1 - rate[0] * static_cast<double>(decays()[s]));
                out[3 * s].at[i] = decayed - rate[1] * new_m / (std::sqrt(new_v) * rate[3] + options_.eps);
                out[3 * s + 1].at[i] = new_m;
                out[3 * s + 2].at[i] = new_v;
            }
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::vector<Tensor> parameters = all(lowering.in, 0);
        const Table rows{{{"p", parameters},
                          {"g", all(lowering.in, 1)},
                          {"m", all(lowering.in, 2)},
                          {"v", all(lowering.in, 3)},
                          {"decay", decays()}}};
        Dispatch step = launch(lowering, "adamw", cut(lowering.device, parameters), rows, 16, 28);
        step.args.emplace_back("rates", rates(lowering.in));
        step.constants.insert(step.constants.end(), {{"ONE_MINUS_BETA1", static_cast<float>(1 - options_.beta1)},
                                                     {"ONE_MINUS_BETA2", static_cast<float>(1 - options_.beta2)},
                                                     {"EPSILON", static_cast<float>(options_.eps)}});
        lowering.dispatch(std::move(step));
    }

private:
    AdamOptions options_;
};

}  // namespace

std::vector<Tensor> adamw(std::span<const Slot> slots, Tensor rates, Tensor clip, const AdamOptions& options) {
    return step_all("adamw", slots, rates, clip, 2, [&](std::vector<float> decays) {
        return std::make_shared<const AdamWOp>(std::move(decays), options);
    });
}

}  // namespace vkf
