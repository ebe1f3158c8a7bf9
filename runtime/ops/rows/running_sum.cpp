// Sums of earlier rows. The adjoint of sums over earlier rows are sums over later ones: with d_total as the initial sum
// it gives the gradients of x and initial.
#include "ops/rows/running_sum.h"

#include "base/error.h"
#include "base/integers.h"
#include "ops/elementwise/policy.h"
#include "ops/movement/view.h"
#include "ops/rows/reduce.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

class RunningSumOp : public Op {
    enum Operand : std::size_t { rows, initial };
    enum Result : std::size_t { before, total };

public:
    explicit RunningSumOp(bool reverse) : reverse_(reverse) {}

    std::string_view name() const override { return "running_sum"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& x = in[rows].shape;
        require(in[rows].dtype == DType::f32 && x.rank() == 3 && x.elements() > 0, "wants f32[B, C, W], not ",
                in[rows]);
        const TensorType sum{DType::f32, {x[0], x[2]}};
        require(in[initial] == sum || in[initial].shape == Shape{0}, "the initial sum is ", in[initial], ", wanted ",
                sum);
        return {in[rows], sum};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Shape& x = in[rows].shape;
        const auto count = as_index(x[1]), width = as_index(x[2]);
        if (!in[initial].at.empty()) out[total].at = in[initial].at;
        for (std::size_t i = 0; i < as_index(x[0]) * count; ++i) {
            const std::size_t b = i / count, c = reverse_ ? count - 1 - i % count : i % count;
            for (std::size_t j = 0; j < width; ++j) {
                double& sum = out[total].at[b * width + j];
                out[before].at[(b * count + c) * width + j] = sum;
                sum += in[rows].at[(b * count + c) * width + j];
            }
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const Tensor d_before = at.d_out[before], d_total = at.d_out[total];
        const Shape& x = at.in[rows].shape();
        if (!d_before) return std::vector{broadcast_to(reshape(d_total, {x[0], 1, x[2]}), x), d_total};
        const RunningSums made = running_sums(d_before, d_total, !reverse_);
        return std::vector{made.before, at.wanted[initial] ? made.total : Tensor()};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[rows], first = lowering.in[initial];
        const auto out = [&](std::size_t k) { return k < lowering.out.size() ? lowering.out[k] : Tensor(); };
        const auto optional = [](Tensor tensor) { return tensor ? ArgValue{tensor} : ArgValue{}; };
        const std::int64_t pairs = x.shape()[0] * ceil_div(x.width(), 2);
        const Sweep grid = sweep(lowering.device, pairs);
        const std::array all{x, first, out(before), out(total)};
        lowering.dispatch({.kernel = "running_sum",
                           .constants = {{"GROUP", grid.group},
                                         {"LAYOUT", vector_layout(x.width() % 2 == 0 && all_even(all))},
                                         {"REVERSE", reverse_},
                                         {"INITIAL", static_cast<bool>(first)},
                                         {"BEFORE", static_cast<bool>(out(before))},
                                         {"TOTAL", static_cast<bool>(out(total))}},
                           .args = {{"x", x},
                                    {"initial", optional(first)},
                                    {"before", optional(out(before))},
                                    {"total", optional(out(total))},
                                    {"pairs", checked_u32(pairs)},
                                    {"per_group", grid.per_group},
                                    {"count", checked_u32(x.shape()[1])},
                                    {"width", checked_u32(x.width())},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"initial_pitch", checked_u32(first ? first.pitch() : 0)}},
                           .groups = grid.groups,
                           .flops = static_cast<double>(x.elements()),
                           .bytes = 4.0 * static_cast<double>(x.elements() * (out(before) ? 2 : 1))});
    }

    bool optional_output(std::size_t) const override { return true; }

private:
    bool reverse_;
};

}  // namespace

RunningSums running_sums(Tensor x, Tensor initial, bool reverse) {
    const std::vector<Tensor> made = x.graph().add(std::make_shared<const RunningSumOp>(reverse), {x, initial});
    return {.before = made[0], .total = made[1]};
}

}  // namespace vkf
