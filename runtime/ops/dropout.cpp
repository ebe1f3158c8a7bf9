// Dropout with a mask that is a function of (seed, salt, element): drawn anew in the backward pass, never stored.

#include "base/error.h"
#include "base/random.h"
#include "ops/grid.h"
#include "ops/ops.h"
#include "ops/pairs.h"

namespace vkf {

namespace {

class DropoutOp : public Op {
public:
    DropoutOp(float rate, std::uint32_t salt) : rate_(rate), salt_(salt) {}

    std::string_view name() const override { return "dropout"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32, "wants f32, not ", in[0]);
        require(in[1] == TensorType{DType::i32, {2}}, "the seed is ", in[1], ", wanted i32[2]");
        require(rate_ >= 0.0f && rate_ < 1.0f, "drops with probability ", rate_, ", wanted [0, 1)");
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto word = [&](std::size_t i) {
            return static_cast<std::uint32_t>(static_cast<std::int32_t>(in[1].at[i]));
        };
        for (std::size_t i = 0; i < out[0].at.size(); ++i)
            out[0].at[i] = in[0].at[i] * dropout_scale({word(0), word(1)}, salt_, static_cast<std::uint32_t>(i), rate_);
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{dropout(at.d_out[0], rate_, at.in[1], salt_), Tensor()};
    }

    void lower(Lowering& to) const override {
        const std::int64_t count = to.out[0].elements();
        const Sweep grid = sweep(to.device, (count + 3) / 4);
        to.dispatch({.kernel = "dropout",
                     .constants = {{"GROUP", grid.group}, {"PAIR", pair_form(std::array{to.in[0], to.out[0]})}},
                     .args = {{"x", to.in[0]},
                              {"seed", to.in[1]},
                              {"y", to.out[0]},
                              {"count", extent(count)},
                              {"per_group", grid.per_group},
                              {"salt", salt_},
                              {"rate", rate_}},
                     .groups = grid.groups,
                     .flops = 30.0 * static_cast<double>(count),
                     .bytes = 8.0 * static_cast<double>(count)});
    }

    bool may_alias(std::size_t, std::size_t input) const override { return input == 0; }
    Halves halves(std::span<const Tensor>) const override {
        return {.in = 0b1, .out = 0b1, .rule = Halves::Rule::together};
    }

private:
    float rate_;
    std::uint32_t salt_;
};

}  // namespace

Tensor dropout(Tensor x, float p, Tensor seed, std::uint32_t salt) {
    if (p == 0.0f) return x;
    return add_one(x.graph(), DropoutOp(p, salt), {contiguous(x), seed});
}

}  // namespace vkf
