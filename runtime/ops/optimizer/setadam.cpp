// SET-Adam: Adam with the range of its stepsizes suppressed, tensor by tensor (Zhang, ECML 2024, arXiv 2302.01029).
//
// The definition is the authors' (AttentionX's runs use it): second moments are down-Scaled by the squared cosine of
// their angle to the all-ones vector, ε is Embedded under the root, and half the least root is Taken away from all.

#include <algorithm>
#include <cmath>

#include "ops/optimizer/optimizers.h"
#include "ops/optimizer/step.h"

namespace vkf {

namespace {

constexpr double least_squares = 1e-20;  // the authors' guard, added to Σv²

class SetAdamOp : public OptimizerOp {
public:
    SetAdamOp(std::vector<float> decays, const AdamOptions& options)
        : OptimizerOp(std::move(decays), 2), options_(options) {}

    std::string_view name() const override { return "setadam"; }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        if (skipped(in, out)) return true;
        for (std::size_t s = 0; s < slots(); ++s) {
            const Array &p = in[4 * s], &gradient = in[4 * s + 1];
            std::vector<double>&m = out[3 * s + 1].at, &v = out[3 * s + 2].at;
            double sum = 0, squares = 0;
            for (std::size_t i = 0; i < p.at.size(); ++i) {
                const double g = clip(in) * gradient.at[i] + static_cast<double>(decays()[s]) * p.at[i];
                m[i] = options_.beta1 * in[4 * s + 2].at[i] + (1 - options_.beta1) * g;
                v[i] = options_.beta2 * in[4 * s + 3].at[i] + (1 - options_.beta2) * g * g;
                sum += v[i];
                squares += v[i] * v[i];
            }
            const std::vector<double>& rate = rates(in).at;
            const double scaled = sum * sum / (static_cast<double>(v.size()) * (squares + least_squares));
            const auto root = [&](double x) { return std::sqrt(scaled * x * rate[2] + options_.eps); };
            const double least = v.empty() ? 0.0 : root(*std::min_element(v.begin(), v.end()));
            for (std::size_t i = 0; i < p.at.size(); ++i)
                out[3 * s].at[i] = p.at[i] - rate[1] * m[i] / (root(v[i]) - 0.5 * least);
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::vector<Tensor> p = all(lowering.in, 0), m = all(lowering.in, 2), v = all(lowering.in, 3);
        // Every workgroup of the second kernel adds up all partial sums of its tensor.
        const TensorChunks parts = cut(lowering.device, p, 1024);
        const Scratch partials = lowering.scratch(3 * std::int64_t{parts.groups()});

        const Table rows{{{"p", p}, {"g", all(lowering.in, 1)}, {"m", m}, {"v", v}, {"decay", decays()}}};
        Dispatch moments = launch(lowering, "setadam_moments", parts, rows, 14, 20);
        moments.args.emplace_back("partials", partials);
        moments.constants.insert(moments.constants.end(),
                                 {{"ONE_MINUS_BETA1", static_cast<float>(1 - options_.beta1)},
                                  {"ONE_MINUS_BETA2", static_cast<float>(1 - options_.beta2)}});
        lowering.dispatch(std::move(moments));

        std::vector<std::uint32_t> count;
        for (const Tensor& parameter : p) count.push_back(checked_u32(parameter.elements()));
        const Table sums{
            {{"p", p}, {"m", m}, {"v", v}, {"count", count}, {"start", parts.start}, {"groups", parts.count}}};
        Dispatch step = launch(lowering, "setadam", parts, sums, 8, 16);
        step.args.insert(step.args.end(), {{"rates", rates(lowering.in)}, {"partials", partials}});
        step.constants.emplace_back("EPSILON", static_cast<float>(options_.eps));
        lowering.dispatch(std::move(step));
    }

private:
    AdamOptions options_;
};

}  // namespace

std::vector<Tensor> setadam(std::span<const Slot> slots, Tensor rates, Tensor clip, const AdamOptions& options) {
    require(static_cast<float>(options.eps) >= 1e-30f, "setadam: eps ", options.eps, " leaves nothing to divide by");
    return step_all("setadam", slots, rates, clip, 2, [&](std::vector<float> decays) {
        return std::make_shared<const SetAdamOp>(std::move(decays), options);
    });
}

}  // namespace vkf
