// Base of the optimisers' ops: parameters with their gradients and moments.
#pragma once

#include "base/error.h"
#include "ops/movement/view.h"
#include "ops/optimizer/optimizers.h"
#include "ops/optimizer/tensor_chunks.h"
#include "ops/vector_layout.h"

namespace vkf {

/// One step of an optimiser on all parameters. Inputs: parameter, gradient, m and v (both may be absent) of each, then
/// the rates and the clip factor (may be absent). Outputs: the new parameter and moments of each, in place.
class OptimizerOp : public Op {
public:
    std::vector<TensorType> infer(std::span<const TensorType> in) const override;
    std::optional<std::size_t> updates(std::size_t output) const override;

protected:
    OptimizerOp(std::vector<float> decays, int moments) : decays_(std::move(decays)), moments_(moments) {}

    std::size_t slots() const { return decays_.size(); }
    std::size_t outputs() const { return 1 + static_cast<std::size_t>(moments_); }  // per slot
    const std::vector<float>& decays() const { return decays_; }

    /// Inputs by role: input `which` of all slots (0 parameter, 1 gradient, 2 m, 3 v); the rates; the clip factor.
    std::vector<Tensor> all(std::span<const Tensor> in, std::size_t which) const;
    template <class T>
    static const T& rates(std::span<const T> in) {
        return in[in.size() - 2];
    }
    static double clip(std::span<const Array> in) { return in.back().at.empty() ? 1.0 : in.back().at[0]; }

    /// True if the clip factor is negative, which skips the step; then copies the old values to the outputs.
    bool skipped(std::span<const Array> in, std::span<Array> out) const;

    /// Launch of `kernel` over all slots, with the table's rows but without the kernel's other own arguments. `flops`
    /// and `bytes` are counted per element.
    Dispatch launch(const Lowering& lowering, std::string_view kernel, const TensorChunks& parts, Table rows,
                    double flops, double bytes) const;

private:
    std::vector<float> decays_;
    int moments_;
};

/// Adds the op `make(decays)` on all slots, with `moments` moments each; returns the new parameters, in order.
template <class Make>
std::vector<Tensor> step_all(std::string_view name, std::span<const Slot> slots, Tensor rates, Tensor clip, int moments,
                             const Make& make) {
    std::vector<Tensor> in;
    std::vector<float> decays;
    for (const Slot& slot : slots) {
        require(slot.parameter && slot.gradient, name, ": a parameter lacks its gradient");
        require((moments < 1 || slot.m) && (moments < 2 || slot.v), name, ": a parameter lacks its moments");
        in.insert(in.end(), {slot.parameter, contiguous(slot.gradient), moments > 0 ? slot.m : Tensor(),
                             moments > 1 ? slot.v : Tensor()});
        decays.push_back(slot.weight_decay);
    }
    in.insert(in.end(), {rates, clip});
    const std::vector<Tensor> out = rates.graph().add(make(std::move(decays)), std::move(in));
    std::vector<Tensor> stepped;
    for (std::size_t i = 0; i < out.size(); i += 1 + static_cast<std::size_t>(moments)) stepped.push_back(out[i]);
    return stepped;
}

}  // namespace vkf
