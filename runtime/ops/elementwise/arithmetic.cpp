// a + b, a − b, a · b, a / b with broadcasting, factor · x, and constant tensors.

#include "ops/elementwise/arithmetic.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/movement/view.h"
#include "ops/rows/reduce.h"

namespace vkf {

namespace {

using Kind = ElementStep::Kind;

class BinaryOp : public ElementwiseOp {
public:
    explicit BinaryOp(Kind kind) : ElementwiseOp({{.kind = kind, .a = 0, .b = 1}}), kind_(kind) {}

    std::string_view name() const override {
        static constexpr std::array<std::string_view, 4> names{"add", "sub", "mul", "div"};
        return names[static_cast<std::size_t>(kind_)];
    }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& a = in[0].shape;
        const Shape& b = in[1].shape;
        require(in[0].dtype == DType::f32 && in[1].dtype == DType::f32, "wants f32, not ", in[0], " and ", in[1]);
        const Shape made = broadcast_shape(a, b);
        const std::size_t axes = broadcast_axes(std::array{a, b}, made).size();
        require(axes <= 6, "cannot broadcast ", a, " and ", b, ": ", axes, " axes repeat apart, wanted at most 6");
        return {{DType::f32, made}};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const Tensor a = at.in[0], b = at.in[1], d = at.d_out[0];
        Tensor d_a, d_b;
        if (at.wanted[0]) {
            d_a = kind_ == Kind::mul ? mul(d, b) : kind_ == Kind::div ? div(d, b) : d;
            d_a = sum_to(d_a, a.shape());
        }
        if (at.wanted[1]) {
            d_b = kind_ == Kind::add   ? d
                  : kind_ == Kind::sub ? scale(d, -1.0f)
                  : kind_ == Kind::mul ? mul(d, a)
                                       : scale(div(mul(d, at.out[0]), b), -1.0f);  // d(a/b)/db = −(a/b)/b
            d_b = sum_to(d_b, b.shape());
        }
        return std::vector{d_a, d_b};
    }

private:
    Kind kind_;
};

Tensor binary(Kind kind, Tensor a, Tensor b) {
    return add_one(a.graph(), BinaryOp(kind), {contiguous(a), contiguous(b)});
}

/// factor · x
class ScaleOp : public ElementwiseOp {
public:
    explicit ScaleOp(float factor) : ElementwiseOp({{.kind = Kind::scale, .number = factor}}), factor_(factor) {}

    std::string_view name() const override { return "scale"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32, "wants f32, not ", in[0]);
        return {in[0]};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{scale(at.d_out[0], factor_)};
    }

private:
    float factor_;
};

/// Tensor with all elements `value`; no inputs.
class FillOp : public ElementwiseOp {
public:
    FillOp(float value, Shape shape)
        : ElementwiseOp({{.kind = Kind::fill, .number = value}}), value_(value), shape_(std::move(shape)) {}

    std::string_view name() const override { return "fill"; }

    std::vector<TensorType> infer(std::span<const TensorType>) const override { return {{DType::f32, shape_}}; }

    std::optional<std::vector<Tensor>> vjp(const Vjp&) const override { return std::vector<Tensor>{}; }

    float value() const { return value_; }

private:
    float value_;
    Shape shape_;
};

}  // namespace

Tensor add(Tensor a, Tensor b) {
    return binary(Kind::add, a, b);
}
Tensor sub(Tensor a, Tensor b) {
    return binary(Kind::sub, a, b);
}
Tensor mul(Tensor a, Tensor b) {
    return binary(Kind::mul, a, b);
}
Tensor div(Tensor a, Tensor b) {
    return binary(Kind::div, a, b);
}

Tensor scale(Tensor x, float factor) {
    if (factor == 0.0f) return fill(x.graph(), x.shape(), 0.0f);
    return add_one(x.graph(), ScaleOp(factor), {contiguous(x)});
}

Tensor fill(Graph& graph, Shape shape, float value) {
    return add_one(graph, FillOp(value, std::move(shape)), {});
}

std::optional<float> filled_with(Tensor x) {
    const std::vector<Node>& nodes = x.graph().nodes();
    const auto maker = std::ranges::find_if(nodes, [&](const Node& n) { return n.out == std::vector{x}; });
    const auto* op = maker == nodes.end() ? nullptr : dynamic_cast<const FillOp*>(maker->op.get());
    return op ? std::optional(op->value()) : std::nullopt;
}

}  // namespace vkf
