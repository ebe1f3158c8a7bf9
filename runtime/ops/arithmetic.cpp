// a + b, a − b, a · b, a / b with broadcasting, factor · x, and constant tensors.

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/grid.h"
#include "ops/ops.h"
#include "ops/pairs.h"
#include "ops/stretch.h"

namespace vkf {

namespace {

enum class Binary : std::uint32_t { add, sub, mul, div };

double combine(Binary kind, double a, double b) {
    switch (kind) {
        case Binary::add:
            return a + b;
        case Binary::sub:
            return a - b;
        case Binary::mul:
            return a * b;
        case Binary::div:
            break;
    }
    return a / b;
}

class BinaryOp : public Op {
public:
    explicit BinaryOp(Binary kind) : kind_(kind) {}

    std::string_view name() const override {
        static constexpr std::array<std::string_view, 4> names{"add", "sub", "mul", "div"};
        return names[static_cast<std::size_t>(kind_)];
    }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& a = in[0].shape;
        const Shape& b = in[1].shape;
        require(in[0].dtype == DType::f32 && in[1].dtype == DType::f32, "wants f32, not ", in[0], " and ", in[1]);
        Stretch unused;
        const bool onto_a = stretch(b, a, unused);
        require(onto_a || stretch(a, b, unused), "cannot broadcast ", a, " and ", b);
        return {{DType::f32, onto_a ? a : b}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        std::array<Stretch, 2> at;
        for (std::size_t k = 0; k < 2; ++k) stretch(in[k].shape, out[0].shape, at[k]);
        for (std::size_t i = 0; i < out[0].at.size(); ++i) {
            const auto operand = [&](std::size_t k) {
                return in[k].at[i / static_cast<std::size_t>(at[k].div) % static_cast<std::size_t>(at[k].mod)];
            };
            out[0].at[i] = combine(kind_, operand(0), operand(1));
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const Tensor a = at.in[0], b = at.in[1], d = at.d_out[0];
        Tensor d_a, d_b;
        if (at.wanted[0]) {
            d_a = kind_ == Binary::mul ? mul(d, b) : kind_ == Binary::div ? div(d, b) : d;
            d_a = sum_to(d_a, a.shape());
        }
        if (at.wanted[1]) {
            d_b = kind_ == Binary::add   ? d
                  : kind_ == Binary::sub ? scale(d, -1.0f)
                  : kind_ == Binary::mul ? mul(d, a)
                                         : scale(div(mul(d, at.out[0]), b), -1.0f);  // d(a/b)/db = −(a/b)/b
            d_b = sum_to(d_b, b.shape());
        }
        return std::vector{d_a, d_b};
    }

    void lower(Lowering& to) const override {
        const Tensor a = to.in[0], b = to.in[1], y = to.out[0];
        const bool a_stretched = a.elements() < y.elements(), b_stretched = b.elements() < y.elements();
        Stretch narrow;
        stretch(a_stretched ? a.shape() : b.shape(), y.shape(), narrow);
        const bool stretched = a_stretched || b_stretched;
        const bool shared = narrow.div % 2 == 0, paired = narrow.div == 1 && narrow.mod % 2 == 0;
        const Sweep grid = sweep(to.device, y.elements());
        to.dispatch({.kernel = "binary",
                     .constants = {{"GROUP", grid.group},
                                   {"OP", static_cast<std::uint32_t>(kind_)},
                                   {"STRETCHED", a_stretched   ? 1u
                                                 : b_stretched ? 2u
                                                               : 0u},
                                   {"READING", !stretched ? 0u
                                               : shared   ? 1u
                                               : paired   ? 2u
                                                          : 0u},
                                   {"PAIR_A", pair_form(a)},
                                   {"PAIR_B", pair_form(b)},
                                   {"PAIR_Y", pair_form(y)}},
                     .args = {{"a", a},
                              {"b", b},
                              {"y", y},
                              {"count", extent(y.elements())},
                              {"per_group", grid.per_group},
                              {"div", extent(narrow.div)},
                              {"mod", extent(narrow.mod)}},
                     .groups = grid.groups,
                     .flops = static_cast<double>(y.elements()),
                     .bytes = 4.0 * static_cast<double>(a.elements() + b.elements() + y.elements())});
    }

    bool adds() const override { return kind_ == Binary::add; }
    bool may_alias(std::size_t, std::size_t) const override { return true; }  // the planner compares sizes
    Halves halves(std::span<const Tensor>) const override { return {0b11, 0b1, Halves::Rule::outputs_follow}; }

private:
    Binary kind_;
};

Tensor binary(Binary kind, Tensor a, Tensor b) {
    return add_one(a.graph(), BinaryOp(kind), {contiguous(a), contiguous(b)});
}

/// y = factor · x + shift; with factor 0 the input is absent and y is constant.
class AffineOp : public Op {
public:
    AffineOp(float factor, float shift, Shape shape) : factor_(factor), shift_(shift), shape_(std::move(shape)) {}

    std::string_view name() const override { return factor_ == 0.0f ? "fill" : "scale"; }

    std::vector<TensorType> infer(std::span<const TensorType>) const override { return {{DType::f32, shape_}}; }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < out[0].at.size(); ++i)
            out[0].at[i] =
                (in.empty() ? 0.0 : static_cast<double>(factor_) * in[0].at[i]) + static_cast<double>(shift_);
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{scale(at.d_out[0], factor_)};
    }

    void lower(Lowering& to) const override {
        const Sweep grid = sweep(to.device, to.out[0].elements());
        to.dispatch({.kernel = "affine",
                     .constants = {{"GROUP", grid.group},
                                   {"CONSTANT", to.in.empty()},
                                   {"PAIR", pair_form(to.in)},
                                   {"PAIR_Y", pair_form(to.out)}},
                     .args = {{"x", to.in.empty() ? ArgValue{} : ArgValue{to.in[0]}},
                              {"y", to.out[0]},
                              {"count", extent(to.out[0].elements())},
                              {"per_group", grid.per_group},
                              {"factor", factor_},
                              {"shift", shift_}},
                     .groups = grid.groups,
                     .flops = static_cast<double>(to.out[0].elements()),
                     .bytes = 8.0 * static_cast<double>(to.out[0].elements())});
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }
    Halves halves(std::span<const Tensor>) const override { return {.in = 0b1, .out = 0b1}; }

    bool is_constant() const { return factor_ == 0.0f; }
    float shift() const { return shift_; }

private:
    float factor_;
    float shift_;
    Shape shape_;
};

}  // namespace

Tensor add(Tensor a, Tensor b) {
    return binary(Binary::add, a, b);
}
Tensor sub(Tensor a, Tensor b) {
    return binary(Binary::sub, a, b);
}
Tensor mul(Tensor a, Tensor b) {
    return binary(Binary::mul, a, b);
}
Tensor div(Tensor a, Tensor b) {
    return binary(Binary::div, a, b);
}

Tensor scale(Tensor x, float factor) {
    if (factor == 0.0f) return fill(x.graph(), x.shape(), 0.0f);
    return add_one(x.graph(), AffineOp(factor, 0.0f, x.shape()), {contiguous(x)});
}

Tensor fill(Graph& graph, Shape shape, float value) {
    return add_one(graph, AffineOp(0.0f, value, std::move(shape)), {});
}

std::optional<float> filled_with(Tensor x) {
    const std::vector<Node>& nodes = x.graph().nodes();
    const auto maker = std::ranges::find_if(nodes, [&](const Node& n) { return n.out == std::vector{x}; });
    const auto* op = maker == nodes.end() ? nullptr : dynamic_cast<const AffineOp*>(maker->op.get());
    return op && op->is_constant() ? std::optional(op->shift()) : std::nullopt;
}

}  // namespace vkf
