// Value heads repeated for the query heads that share them, and the adjoint.
#include "ops/movement/repeat_heads.h"

#include "base/error.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// [..., heads·D] → [..., heads·repeat·D], each head `repeat` times; `fold` is the adjoint, in the other direction.
class RepeatHeadsOp : public Op {
public:
    RepeatHeadsOp(std::int64_t heads, std::int64_t repeat, bool fold) : heads_(heads), repeat_(repeat), fold_(fold) {}

    std::string_view name() const override { return fold_ ? "fold_heads" : "repeat_heads"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const std::int64_t width = in[0].shape.width(), parts = fold_ ? heads_ * repeat_ : heads_;
        require(in[0].dtype == DType::f32 && heads_ > 0 && repeat_ > 0 && width % parts == 0, "cannot cut ", in[0],
                " into ", parts, " heads");
        return {{DType::f32, in[0].shape.with_width(fold_ ? width / repeat_ : width * repeat_)}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Array& wide = fold_ ? in[0] : out[0];
        const auto repeat = static_cast<std::size_t>(repeat_);
        const std::size_t head = static_cast<std::size_t>(wide.shape.width() / (heads_ * repeat_));
        for (std::size_t i = 0; i < wide.at.size(); ++i) {
            const std::size_t narrow = i / (head * repeat) * head + i % head;
            if (fold_)
                out[0].at[narrow] += in[0].at[i];
            else
                out[0].at[i] = in[0].at[narrow];
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{add_one(at.in[0].graph(), RepeatHeadsOp(heads_, repeat_, !fold_), {at.d_out[0]})};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0], y = lowering.out[0];
        const std::int64_t wide = fold_ ? x.width() : y.width(), head = wide / (heads_ * repeat_);
        const RowSweep grid = row_sweep(lowering.device, y.rows() * heads_, (head + 1) / 2);
        const bool pairs = head % 2 == 0;
        lowering.dispatch({.kernel = "repeat_heads",
                           .constants = {{"GROUP", grid.group},
                                         {"FOLD", fold_},
                                         {"LAYOUT_X", vector_layout(x, pairs && even(x))},
                                         {"LAYOUT_Y", vector_layout(y, pairs)}},
                           .args = {{"x", x},
                                    {"y", y},
                                    {"rows", checked_u32(y.rows())},
                                    {"heads", checked_u32(heads_)},
                                    {"repeat", checked_u32(repeat_)},
                                    {"head", checked_u32(head)},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = fold_ ? static_cast<double>(x.elements()) : 0.0,
                           .bytes = 4.0 * static_cast<double>(x.elements() + y.elements())});
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        if (in[0].width() / (fold_ ? heads_ * repeat_ : heads_) % 2 != 0) return {};
        return {.half_in = 0b1, .half_out = 0b1, .widening = 0b1};
    }

private:
    std::int64_t heads_;
    std::int64_t repeat_;
    bool fold_;
};

}  // namespace

Tensor repeat_heads(Tensor x, std::int64_t heads, std::int64_t repeat) {
    if (repeat == 1) return x;
    return add_one(x.graph(), RepeatHeadsOp(heads, repeat, false), {x});
}

Tensor match_heads(Tensor v, Tensor o, std::int64_t value_heads) {
    if (v.width() == o.width()) return v;
    require(value_heads > 0 && v.width() > 0 && o.width() % v.width() == 0, "rows of ", v.width(), " in ", value_heads,
            " value heads cannot serve rows of ", o.width());
    return repeat_heads(v, value_heads, o.width() / v.width());
}

}  // namespace vkf
