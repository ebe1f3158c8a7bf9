// Gated linear units: forward as two steps of the elementwise kernel, backward as one kernel that makes both gradients.
#include "ops/elementwise/glu.h"

#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/policy.h"
#include "ops/movement/view.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Gradients of gate and up from (gate, up, gradient of the result).
class GluBackwardOp : public Op {
public:
    explicit GluBackwardOp(Activation kind) : kind_(kind) {}

    std::string_view name() const override { return "glu_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0] == in[1] && in[0] == in[2], "gate is ", in[0], ", up is ", in[1],
                ", the gradient ", in[2]);
        return {in[0], in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < in[0].at.size(); ++i) {
            const double gate = in[0].at[i], up = in[1].at[i], d = in[2].at[i];
            out[0].at[i] = activation_slope(kind_, gate) * up * d;
            out[1].at[i] = activation(kind_, gate) * d;
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::int64_t count = lowering.in[0].elements();
        const Sweep grid = sweep(lowering.device, count);
        lowering.dispatch({.kernel = "glu_backward",
                           .constants = {{"GROUP", grid.group},
                                         {"KIND", static_cast<std::uint32_t>(kind_)},
                                         {"LAYOUT_GATE", vector_layout(lowering.in[0])},
                                         {"LAYOUT_UP", vector_layout(lowering.in[1])},
                                         {"LAYOUT_D", vector_layout(lowering.in[2])},
                                         {"LAYOUT_D_GATE", vector_layout(lowering.out[0])},
                                         {"LAYOUT_D_UP", vector_layout(lowering.out[1])}},
                           .args = {{"gate", lowering.in[0]},
                                    {"up", lowering.in[1]},
                                    {"d_y", lowering.in[2]},
                                    {"d_gate", lowering.out[0]},
                                    {"d_up", lowering.out[1]},
                                    {"count", checked_u32(count)},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 75.0 * static_cast<double>(count),
                           .bytes = 20.0 * static_cast<double>(count)});
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        return {.half_in = 0b111, .half_out = 0b11, .widening = 0b111};
    }

private:
    Activation kind_;
};

class GluOp : public ElementwiseOp {
public:
    explicit GluOp(Activation kind)
        : ElementwiseOp({{.kind = ElementStep::Kind::activate, .a = 0, .activation = kind},
                         {.kind = ElementStep::Kind::mul, .a = ElementStep::first_step, .b = 1}}),
          kind_(kind) {}

    std::string_view name() const override { return "glu"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0] == in[1], "gate is ", in[0], ", up is ", in[1]);
        return {in[0]};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return at.in[0].graph().add(std::make_shared<const GluBackwardOp>(kind_),
                                    {at.in[0], at.in[1], contiguous(at.d_out[0])});
    }

private:
    Activation kind_;
};

}  // namespace

Tensor glu(Tensor gate, Tensor up, Activation kind) {
    return add_one(gate.graph(), GluOp(kind), {contiguous(gate), contiguous(up)});
}

}  // namespace vkf
