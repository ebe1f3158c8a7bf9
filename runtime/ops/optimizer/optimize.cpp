// Ops around an optimiser's step: accumulation of gradients, their norm over all parameters, and the factor that clips
// it.
#include "ops/optimizer/optimize.h"

#include <cmath>

#include "base/error.h"
#include "ops/movement/view.h"
#include "ops/optimizer/tensor_chunks.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

std::vector<Tensor> list(std::span<const Tensor> tensors) {
    return {tensors.begin(), tensors.end()};
}

/// Outputs the norm of all inputs together and the factor that brings it down to the limit; -1 where it is not finite.
class GlobalNormOp : public Op {
public:
    explicit GlobalNormOp(float limit) : limit_(limit) {}

    std::string_view name() const override { return "global_norm"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (const TensorType& type : in) require(type.dtype == DType::f32, "wants f32, not ", type);
        return {{DType::f32, {}}, {DType::f32, {}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        double sum = 0;
        for (const Array& array : in)
            for (const double x : array.at) sum += x * x;
        const double norm = std::sqrt(sum), ratio = static_cast<double>(limit_) / (norm + 1e-6);
        out[0].at[0] = norm;
        // In fp32, as in the kernel.
        const bool good = std::isfinite(static_cast<float>(norm));
        out[1].at[0] = !good ? -1.0 : limit_ == 0.0f || ratio >= 1 ? 1.0 : ratio;
        return true;
    }

    void lower(Lowering& lowering) const override {
        const TensorChunks parts = cut(lowering.device, lowering.in);
        const std::uint32_t partials = parts.groups();
        const Scratch scratch = lowering.scratch(partials);
        lowering.dispatch({.kernel = "square_sum",
                           .constants = {{"GROUP", parts.group}, {"LAYOUT", vector_layout(lowering.in)}},
                           .args = {{"rows", Table{{{"x", list(lowering.in)}}}},
                                    {"parts", parts.table()},
                                    {"groups", parts.groups()},
                                    {"partials", scratch}},
                           .groups = parts.groups(),
                           .flops = 2 * parts.elements,
                           .bytes = 4 * parts.elements});
        lowering.dispatch({.kernel = "norm_clip",
                           .constants = {{"GROUP", row_group(lowering.device, partials)}},
                           .args = {{"partials", scratch},
                                    {"norm", lowering.out[0]},
                                    {"clip", lowering.out[1]},
                                    {"count", partials},
                                    {"limit", limit_}},
                           .flops = static_cast<double>(partials),
                           .bytes = 4 * static_cast<double>(partials)});
    }

private:
    float limit_;
};

/// Inputs: targets, then as many values (or none: the targets become 0). Outputs: the new targets, in place.
class AccumulateOp : public Op {
public:
    AccumulateOp(std::size_t targets, float factor) : targets_(targets), factor_(factor) {}

    std::string_view name() const override { return factor_ == 0.0f ? "zero" : "accumulate"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (std::size_t i = 0; i < targets_; ++i) {
            require(in[i].dtype == DType::f32, "wants f32, not ", in[i]);
            require(factor_ == 0.0f || in[i] == in[targets_ + i], "cannot add ", in.back(), " to ", in[i]);
        }
        return {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(targets_)};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        if (factor_ == 0.0f) return true;
        for (std::size_t k = 0; k < targets_; ++k)
            for (std::size_t i = 0; i < out[k].at.size(); ++i)
                out[k].at[i] = in[k].at[i] + static_cast<double>(factor_) * in[targets_ + k].at[i];
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::span<const Tensor> targets = lowering.in.first(targets_);
        const TensorChunks parts = cut(lowering.device, targets);
        const bool zero = factor_ == 0.0f;
        std::vector<Tensor> values = list(lowering.in.subspan(targets_));
        values.resize(targets_);
        lowering.dispatch(
            {.kernel = "accumulate",
             .constants = {{"GROUP", parts.group}, {"ZERO", zero}, {"LAYOUT", vector_layout(lowering.in)}},
             .args = {{"rows", Table{{{"y", list(targets)}, {"x", values}}}},
                      {"parts", parts.table()},
                      {"groups", parts.groups()},
                      {"factor", factor_}},
             .groups = parts.groups(),
             .flops = 2 * parts.elements,
             .bytes = (zero ? 4 : 12) * parts.elements});
    }

    std::optional<std::size_t> updates(std::size_t output) const override { return output; }

private:
    std::size_t targets_;
    float factor_;
};

}  // namespace

GlobalNorm global_norm(std::span<const Tensor> gradients, float limit) {
    require(!gradients.empty(), "global_norm: there are no gradients");
    require(limit >= 0.0f, "global_norm: the limit is ", limit);
    std::vector<Tensor> in;
    for (const Tensor& gradient : gradients) in.push_back(contiguous(gradient));
    const std::vector<Tensor> out = in[0].graph().add(std::make_shared<const GlobalNormOp>(limit), in);
    return {out[0], out[1]};
}

std::vector<Tensor> accumulate(std::span<const Tensor> targets, std::span<const Tensor> values, float factor) {
    require(targets.size() == values.size() && factor != 0.0f, "accumulate: ", targets.size(), " targets, ",
            values.size(), " values, factor ", factor);
    if (targets.empty()) return {};
    std::vector<Tensor> in = list(targets);
    for (const Tensor& value : values) in.push_back(contiguous(value));
    return targets[0].graph().add(std::make_shared<const AccumulateOp>(targets.size(), factor), std::move(in));
}

std::vector<Tensor> zero(std::span<const Tensor> targets) {
    if (targets.empty()) return {};
    return targets[0].graph().add(std::make_shared<const AccumulateOp>(targets.size(), 0.0f), list(targets));
}

}  // namespace vkf
