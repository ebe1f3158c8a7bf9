// Derivative of attention's discrepancy, from the discrepancy itself, so that o need not be kept.
#include "base/error.h"
#include "ops/attention/discrepancy_launch.h"
#include "ops/attention/project_out_launch.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// d_o, delta and, unless equal to g, d_v from (y, v, g).
class DiscrepancyBackwardOp : public Op {
public:
    DiscrepancyBackwardOp(std::int64_t heads, const DiscrepancyWeights& weights) : heads_(heads), weights_(weights) {}

    std::string_view name() const override { return "discrepancy_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (const TensorType& x : in) require(x == in[y], "an operand is ", x, ", the result ", in[y]);
        const std::int64_t rows = in[y].shape.rows(), length = queries(in[y].shape);
        std::vector<TensorType> types{in[y], {DType::f32, {rows / length, heads_, length}}};
        if (scales_values(weights_)) types.push_back(in[v]);
        return types;
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const double by_o = static_cast<double>(weights_.by_o), by_v = static_cast<double>(weights_.by_v);
        const auto heads = static_cast<std::size_t>(heads_), row = static_cast<std::size_t>(in[y].shape.width());
        const std::size_t width = row / heads, length = static_cast<std::size_t>(queries(in[y].shape));
        for (std::size_t i = 0; i < in[y].at.size(); ++i) {
            const double o = by_o != 0 ? (in[y].at[i] - by_v * in[v].at[i]) / by_o : 0.0;
            const std::size_t at = i / row;
            out[0].at[i] = by_o * in[g].at[i];
            out[1].at[(at / length * heads + i / width % heads) * length + at % length] += out[0].at[i] * o;
            if (scales_values(weights_)) out[2].at[i] = by_v * in[g].at[i];
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor own = lowering.in[y], values = lowering.in[v], d = lowering.in[g];
        const std::int64_t width = own.width() / heads_;
        const HeadRows grid = head_rows(lowering.device, own.rows(), heads_, width);
        const bool of_values = scales_values(weights_);
        const auto count = static_cast<double>(own.elements());
        lowering.dispatch({.kernel = "discrepancy_backward",
                           .constants = {{"GROUP", grid.group},
                                         {"WIDTH", checked_u32(width)},
                                         {"STRIP", grid.strip},
                                         {"LAYOUT", grid.aligned ? vector_layout(lowering.in) : vector_layout(false)},
                                         {"HEADS", checked_u32(heads_)},
                                         {"OF_VALUES", of_values},
                                         {"LANES_PER_ROW", grid.lanes}},
                           .args = {{"y", own},
                                    {"v", values},
                                    {"g", d},
                                    {"d_o", lowering.out[0]},
                                    {"d_v", of_values ? ArgValue{lowering.out[2]} : ArgValue{}},
                                    {"delta", lowering.out[1]},
                                    {"rows", checked_u32(own.rows())},
                                    {"queries", checked_u32(queries(own.shape()))},
                                    {"v_pitch", checked_u32(values.pitch())},
                                    {"g_pitch", checked_u32(d.pitch())},
                                    {"per_group", grid.per_group},
                                    {"by_o", weights_.by_o},
                                    {"by_v", weights_.by_v}},
                           .groups = grid.groups,
                           .flops = 6.0 * count,
                           .bytes = (of_values ? 20.0 : 16.0) * count});
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        if (in[y].width() / heads_ % 2 != 0) return {};
        return {.half_in = 0b111, .half_out = 0b101, .uniform = true, .lower_precision = true};
    }

    static bool scales_values(const DiscrepancyWeights& weights) { return weights.by_v != 1.0f; }

private:
    enum Operand : std::size_t { y, v, g };

    static std::int64_t queries(const Shape& shape) { return shape[-2]; }

    std::int64_t heads_;
    DiscrepancyWeights weights_;
};

}  // namespace

DiscrepancyGradients discrepancy_gradients(std::int64_t heads, const DiscrepancyWeights& weights, Tensor y, Tensor v,
                                           Tensor d) {
    const std::vector<Tensor> out =
        y.graph().add(std::make_shared<const DiscrepancyBackwardOp>(heads, weights), {y, v, d});
    return {.d_o = out[0], .d_v = DiscrepancyBackwardOp::scales_values(weights) ? out[2] : d, .delta = out[1]};
}

}  // namespace vkf
