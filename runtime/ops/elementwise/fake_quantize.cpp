#include "ops/elementwise/fake_quantize.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/error.h"
#include "ops/elementwise/policy.h"
#include "ops/movement/view.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

class FakeQuantizeOp : public Op {
public:
    std::string_view name() const override { return "fake_quantize_e5m2"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32, "wants f32, not ", in[0]);
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        double sum = 0;
        for (const double w : in[0].at) sum += std::abs(w);
        const double mean = sum / static_cast<double>(in[0].at.size());
        for (std::size_t i = 0; i < in[0].at.size(); ++i)
            out[0].at[i] = mean < FLT_MIN ? 0.0 : mean * round_e5m2(in[0].at[i] / mean);
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override { return std::vector{at.d_out[0]}; }

    void lower(Lowering& lowering) const override {
        const Tensor w = lowering.in[0], y = lowering.out[0];
        const auto count = static_cast<double>(w.elements());
        const Sweep grid = sweep(lowering.device, w.elements());
        const Scratch partials = lowering.scratch(static_cast<std::int64_t>(grid.groups));
        lowering.dispatch({.kernel = "magnitude_sum",
                           .constants = {{"GROUP", grid.group}, {"LAYOUT", vector_layout(w)}},
                           .args = {{"x", w},
                                    {"partials", partials},
                                    {"count", checked_u32(w.elements())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 2 * count,
                           .bytes = 4 * count});
        lowering.dispatch(
            {.kernel = "fake_quantize",
             .constants = {{"GROUP", grid.group}, {"LAYOUT_W", vector_layout(w)}, {"LAYOUT_Y", vector_layout(y)}},
             .args = {{"w", w},
                      {"partials", partials},
                      {"y", y},
                      {"partial_count", checked_u32(static_cast<std::int64_t>(grid.groups))},
                      {"count", checked_u32(w.elements())},
                      {"per_group", grid.per_group}},
             .groups = grid.groups,
             .flops = 10 * count,
             .bytes = 8 * count});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_out = 0b1}; }
};

}  // namespace

double round_e5m2(double x) {
    const double size = std::min(std::abs(x), 1.75 * 0x1p16);
    const double step = std::ldexp(1.0, std::max(size > 0 ? std::ilogb(size) : -14, -14) - 2);
    return std::copysign(std::nearbyint(size / step) * step, x);
}

Tensor fake_quantize_e5m2(Tensor w) {
    return add_one(w.graph(), FakeQuantizeOp(), {contiguous(w)});
}

}  // namespace vkf
