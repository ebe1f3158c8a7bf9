// What the optimisers' ops have in common: parameters with their gradients and moments.
#pragma once

#include "base/error.h"
#include "ops/optimizers.h"
#include "ops/parts.h"
#include "ops/vector_layout.h"
#include "ops/view.h"

namespace vkf {

/// One step of an optimiser on all parameters. Inputs: parameter, gradient, m and v (either may be absent) of each,
/// then the rates and the clip factor (or none). Outputs: the new parameter and moments of each, in place of the old.
class StepOp : public Op {
public:
    std::vector<TensorType> infer(std::span<const TensorType> in) const override;
    std::optional<std::size_t> updates(std::size_t output) const override;

protected:
    StepOp(std::vector<float> decays, int moments) : decays_(std::move(decays)), moments_(moments) {}

    std::size_t slots() const { return decays_.size(); }
    std::size_t outputs() const { return 1 + static_cast<std::size_t>(moments_); }  // of one slot
    const std::vector<float>& decays() const { return decays_; }

    /// Of a span of inputs: what each slot has at `which` (0 parameter, 1 gradient, 2 m, 3 v); the rates; the clip
    /// factor.
    std::vector<Tensor> all(std::span<const Tensor> in, std::size_t which) const;
    template <class T>
    static const T& rates(std::span<const T> in) {
        return in[in.size() - 2];
    }
    static double clip(std::span<const Array> in) { return in.back().at.empty() ? 1.0 : in.back().at[0]; }

    /// The step that a negative clip factor asks for: none.
    bool skipped(std::span<const Array> in, std::span<Array> out) const;

    /// A launch of `kernel` over all slots, without what is its own but for the table's rows. `flops` and `bytes` are
    /// counted per element.
    Dispatch launch(const Lowering& to, std::string_view kernel, const Parts& parts, Table rows, double flops,
                    double bytes) const;

private:
    std::vector<float> decays_;
    int moments_;
};

/// Adds `make(decays)` on all slots, of which `moments` are used; the new parameters, in order.
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
