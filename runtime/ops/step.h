// What the optimisers' ops have in common: parameters with their gradients and moments, up to three at a time.
#pragma once

#include <algorithm>

#include "ops/ops.h"
#include "ops/pack.h"

namespace vkf {

/// One step of an optimiser on a few parameters. Inputs: parameter, gradient, m and v (either may be absent) of each,
/// then the rates and the clip factor (or none). Outputs: the new parameter and moments of each, in place of the old.
class StepOp : public Op {
public:
    static constexpr std::size_t capacity = 3;  // as many as fit a kernel's arguments

    std::vector<TensorType> infer(std::span<const TensorType> in) const override;
    std::optional<std::size_t> updates(std::size_t output) const override;

protected:
    StepOp(std::vector<float> decays, int moments) : decays_(std::move(decays)), moments_(moments) {}

    std::size_t slots() const { return decays_.size(); }
    std::size_t outputs() const { return 1 + static_cast<std::size_t>(moments_); }  // of one slot
    float decay(std::size_t slot) const { return slot < slots() ? decays_[slot] : 0.0f; }

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

    /// A launch of `kernel` over all slots, without what is its own. `letters` names the tensors it takes, from "pgmv";
    /// a kernel that takes gradients takes the weight decays too. `flops` and `bytes` are counted per element.
    Dispatch launch(const Lowering& to, std::string_view kernel, const Sweep& grid, std::string_view letters,
                    double flops, double bytes) const;

private:
    std::vector<float> decays_;
    int moments_;
};

/// Adds `make(decays)` for each run of up to three slots; the new parameters, in order. `moments` of the slots' are
/// used.
template <class Make>
std::vector<Tensor> step_all(std::string_view name, std::span<const Slot> slots, Tensor rates, Tensor clip, int moments,
                             const Make& make) {
    std::vector<Tensor> stepped;
    for (std::size_t first = 0; first < slots.size(); first += StepOp::capacity) {
        const auto pack = slots.subspan(first, std::min(StepOp::capacity, slots.size() - first));
        std::vector<Tensor> in;
        std::vector<float> decays;
        for (const Slot& slot : pack) {
            require(slot.parameter && slot.gradient, name, ": a parameter lacks its gradient");
            require((moments < 1 || slot.m) && (moments < 2 || slot.v), name, ": a parameter lacks its moments");
            in.insert(in.end(), {slot.parameter, contiguous(slot.gradient), moments > 0 ? slot.m : Tensor(),
                                 moments > 1 ? slot.v : Tensor()});
            decays.push_back(slot.weight_decay);
        }
        in.insert(in.end(), {rates, clip});
        const std::vector<Tensor> out = rates.graph().add(make(std::move(decays)), std::move(in));
        for (std::size_t i = 0; i < pack.size(); ++i)
            stepped.push_back(out[i * (1 + static_cast<std::size_t>(moments))]);
    }
    return stepped;
}

}  // namespace vkf
