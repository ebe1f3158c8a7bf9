// AttentionX's signal: the difference between a position's own value and attention's average of the others' values.
#include "ops/attention/discrepancy.h"

#include <algorithm>

#include "base/error.h"
#include "ops/attention/discrepancy_launch.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/repeat_heads.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// by_v · v + by_o · o
class DiscrepancyOp : public Op {
public:
    explicit DiscrepancyOp(const DiscrepancyWeights& weights) : by_o_(weights.by_o), by_v_(weights.by_v) {}

    std::string_view name() const override { return "discrepancy"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0] == in[1], "o is ", in[0], ", v is ", in[1]);
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < out[0].at.size(); ++i)
            out[0].at[i] = static_cast<double>(by_v_) * in[1].at[i] + static_cast<double>(by_o_) * in[0].at[i];
        return true;
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        return {add(times(in[1], by_v_), times(in[0], by_o_))};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const Tensor d = at.d_out[0];
        return std::vector{at.wanted[0] ? times(d, by_o_) : Tensor(), at.wanted[1] ? times(d, by_v_) : Tensor()};
    }

    void lower(Lowering& lowering) const override {
        lowering.dispatch(
            discrepancy_launch(lowering.device, lowering.in[0], lowering.in[1], {by_o_, by_v_}, lowering.out[0]));
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        return {.half_in = 0b11, .half_out = 0b1, .uniform = true, .lower_precision = true};
    }

private:
    static Tensor times(Tensor x, float factor) { return factor == 1.0f ? x : scale(x, factor); }

    float by_o_;
    float by_v_;
};

}  // namespace

Dispatch discrepancy_launch(const DeviceTraits& device, const ArgValue& o, Tensor v, const DiscrepancyWeights& weights,
                            Tensor y) {
    const PairRows grid = pair_rows(device, y.rows(), y.width());
    const auto* tensor = std::get_if<Tensor>(&o);
    const auto count = static_cast<double>(y.elements());
    return {.kernel = "discrepancy",
            .constants = {{"GROUP", grid.group},
                          {"WIDTH", checked_u32(y.width())},
                          {"STRIP", std::min(grid.strip, 8u)},  // each strip is read once anyway
                          {"LAYOUT", grid.form({v, y})},
                          {"LAYOUT_O", tensor ? grid.form({*tensor}) : vector_layout(grid.aligned)}},
            .args = {{"o", o},
                     {"v", v},
                     {"y", y},
                     {"rows", checked_u32(y.rows())},
                     {"o_pitch", checked_u32(tensor ? tensor->pitch() : y.width())},
                     {"v_pitch", checked_u32(v.pitch())},
                     {"per_group", grid.per_group},
                     {"by_o", weights.by_o},
                     {"by_v", weights.by_v}},
            .groups = grid.groups,
            .flops = 3.0 * count,
            .bytes = 12.0 * count};
}

DiscrepancyWeights discrepancy_weights(float gamma, GammaOn on) {
    const bool sum = on == GammaOn::sum;
    return {.by_o = sum ? -gamma : -1.0f, .by_v = sum ? 1.0f : gamma};
}

Tensor discrepancy(Tensor o, Tensor v, float gamma, GammaOn on, std::int64_t value_heads) {
    return add_one(o.graph(), DiscrepancyOp(discrepancy_weights(gamma, on)), {o, match_heads(v, o, value_heads)});
}

}  // namespace vkf
