// Gradient descent, with momentum or without.

#include "ops/optimizer/optimizers.h"
#include "ops/optimizer/step.h"

namespace vkf {

namespace {

class SgdOp : public OptimizerOp {
public:
    SgdOp(std::vector<float> decays, const SgdOptions& options)
        : OptimizerOp(std::move(decays), options.momentum != 0.0f ? 1 : 0), options_(options) {}

    std::string_view name() const override { return "sgd"; }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        if (skipped(in, out)) return true;
        const auto momentum = static_cast<double>(options_.momentum);
        for (std::size_t s = 0; s < slots(); ++s) {
            const Array &p = in[4 * s], &gradient = in[4 * s + 1];
            for (std::size_t i = 0; i < p.at.size(); ++i) {
                double g = clip(in) * gradient.at[i] + static_cast<double>(decays()[s]) * p.at[i];
                if (outputs() == 2) {
                    const double b = momentum * in[4 * s + 2].at[i] + g;
                    out[2 * s + 1].at[i] = b;
                    g = options_.nesterov ? g + momentum * b : b;
                }
                out[outputs() * s].at[i] = p.at[i] - rates(in).at[0] * g;
            }
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::vector<Tensor> parameters = all(lowering.in, 0);
        const Table rows{
            {{"p", parameters}, {"g", all(lowering.in, 1)}, {"m", all(lowering.in, 2)}, {"decay", decays()}}};
        Dispatch step = launch(lowering, "sgd", cut(lowering.device, parameters), rows, 7, outputs() == 2 ? 20 : 12);
        step.args.emplace_back("rates", rates(lowering.in));
        step.constants.insert(step.constants.end(), {{"MOMENTUM", options_.momentum}, {"NESTEROV", options_.nesterov}});
        lowering.dispatch(std::move(step));
    }

private:
    SgdOptions options_;
};

}  // namespace

std::vector<Tensor> sgd(std::span<const Slot> slots, Tensor rates, Tensor clip, const SgdOptions& options) {
    return step_all("sgd", slots, rates, clip, options.momentum != 0.0f ? 1 : 0, [&](std::vector<float> decays) {
        return std::make_shared<const SgdOp>(std::move(decays), options);
    });
}

}  // namespace vkf
