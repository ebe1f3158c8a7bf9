// Dropout with a mask that is a function of (seed, salt, element): drawn again in the backward pass, never stored.

#include "ops/elementwise/dropout.h"
#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

class DropoutOp : public ElementwiseOp {
public:
    DropoutOp(float rate, std::uint32_t salt)
        : ElementwiseOp({{.kind = ElementStep::Kind::dropout, .number = rate, .salt = salt}}),
          rate_(rate),
          salt_(salt) {}

    std::string_view name() const override { return "dropout"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32, "wants f32, not ", in[0]);
        require(in[1] == TensorType{DType::i32, {2}}, "the seed is ", in[1], ", wanted i32[2]");
        require(rate_ >= 0.0f && rate_ < 1.0f, "drops with probability ", rate_, ", wanted [0, 1)");
        return {in[0]};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{dropout(at.d_out[0], rate_, at.in[1], salt_), Tensor()};
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
