// What is left of o once its projection on v is taken away: the heart of belief attention.

#include <cfloat>
#include <optional>

#include "base/error.h"
#include "ops/ops.h"
#include "ops/pairs.h"

namespace vkf {

namespace {

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Below the smallest normal float, <v,v> counts as 0: there is no direction to project on.
constexpr double least_square = static_cast<double>(FLT_MIN);

/// Sums over one group of a row of double arrays.
struct Products {
    double o_v = 0, g_v = 0, v_v = 0;

    Products(const Array& o, const Array& v, const Array& g, std::size_t first, std::size_t width) {
        for (std::size_t i = first; i < first + width; ++i) {
            o_v += o.at[i] * v.at[i];
            g_v += g.at[i] * v.at[i];
            v_v += v.at[i] * v.at[i];
        }
    }
    double along(double product) const { return v_v >= least_square ? product / v_v : 0.0; }
};

/// Whether every group is made of whole pairs.
bool even_groups(Tensor o, std::int64_t groups) {
    return o.width() / groups % 2 == 0;
}

/// Gradients of project_out with respect to o and v, and what is to be added to each. Inputs: o, v, g, two addends.
class ProjectOutBackwardOp : public Op {
public:
    explicit ProjectOutBackwardOp(std::int64_t groups) : groups_(groups) {}

    std::string_view name() const override { return "project_out_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[2] == in[0], "the gradient is ", in[2], ", the result ", in[0]);
        return {in[0], in[1]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Array &o = in[0], &v = in[1], &g = in[2];
        const std::size_t width = index(o.shape.width() / groups_);
        for (std::size_t first = 0; first < o.at.size(); first += width) {
            const Products sums(o, v, g, first, width);
            const double a = sums.along(sums.o_v), c = -sums.along(sums.g_v);
            for (std::size_t i = first; i < first + width; ++i) {
                out[0].at[i] = g.at[i] + c * v.at[i];
                out[1].at[i] = c * (o.at[i] - 2 * a * v.at[i]) - a * g.at[i];
            }
        }
        for (std::size_t k = first_addend; k < in.size(); ++k)
            for (std::size_t i = 0; i < in[k].at.size(); ++i) out[k - first_addend].at[i] += in[k].at[i];
        return true;
    }

    void lower(Lowering& to) const override {
        const Tensor o = to.in[0], v = to.in[1], g = to.in[2];
        const Tensor addend_o = to.in[first_addend], addend_v = to.in[first_addend + 1];
        const auto optional = [](Tensor x) { return x ? ArgValue{x} : ArgValue{}; };
        const std::int64_t width = o.width() / groups_;
        const PairRows grid = short_pair_rows(to.device, o.rows() * groups_, width);
        const auto count = static_cast<double>(o.elements());
        to.dispatch({.kernel = "project_out_backward",
                     .constants = {{"GROUP", grid.group},
                                   {"WIDTH", extent(width)},
                                   {"STRIP", grid.strip},
                                   {"PAIR", grid.form({o, v, g, addend_o, addend_v, to.out[0], to.out[1]})},
                                   {"GROUPS", extent(groups_)},
                                   {"ADDEND_O", static_cast<bool>(addend_o)},
                                   {"ADDEND_V", static_cast<bool>(addend_v)},
                                   {"ROW_PER_LANE", grid.own}},
                     .args = {{"o", o},
                              {"v", v},
                              {"g", g},
                              {"addend_o", optional(addend_o)},
                              {"addend_v", optional(addend_v)},
                              {"d_o", to.out[0]},
                              {"d_v", to.out[1]},
                              {"rows", extent(o.rows())},
                              {"o_pitch", extent(o.pitch())},
                              {"v_pitch", extent(v.pitch())},
                              {"g_pitch", extent(g.pitch())},
                              {"per_group", grid.per_group}},
                     .groups = grid.groups,
                     .flops = 14.0 * count,
                     .bytes = (20.0 + (addend_o ? 4.0 : 0.0) + (addend_v ? 4.0 : 0.0)) * count});
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }  // a group is read before it is written
    Halves halves(std::span<const Tensor> in) const override {
        return even_groups(in[0], groups_) ? Halves{0b11111, 0b11, Halves::Rule::together} : Halves{};
    }
    std::optional<std::size_t> takes_addend(std::size_t output) const override { return first_addend + output; }

private:
    static constexpr std::size_t first_addend = 3;

    std::int64_t groups_;
};

class ProjectOutOp : public Op {
public:
    explicit ProjectOutOp(std::int64_t groups) : groups_(groups) {}

    std::string_view name() const override { return "project_out"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0] == in[1], "o is ", in[0], ", v is ", in[1]);
        require(groups_ > 0 && in[0].shape.width() % groups_ == 0, "rows of ", in[0].shape.width(),
                " do not fall into ", groups_, " groups");
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Array &o = in[0], &v = in[1];
        const std::size_t width = index(o.shape.width() / groups_);
        for (std::size_t first = 0; first < o.at.size(); first += width) {
            const Products sums(o, v, o, first, width);
            const double a = sums.along(sums.o_v);
            for (std::size_t i = first; i < first + width; ++i) out[0].at[i] = o.at[i] - a * v.at[i];
        }
        return true;
    }

    /// The divisor is <v,v>, or something positive where that is 0, so that rows without a direction project to 0.
    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        const Shape groups{in[0].rows() * groups_, in[0].width() / groups_};
        const Tensor o = reshape(in[0], groups), v = reshape(in[1], groups);
        const Tensor v_v = row_sum(mul(v, v));
        const Tensor one = fill(v_v.graph(), v_v.shape(), 1.0f);
        const Tensor lack = activate(sub(one, scale(v_v, 1.0f / FLT_MIN)), Activation::relu);
        const Tensor a = div(row_sum(mul(o, v)), add(v_v, lack));
        return {reshape(sub(o, mul(v, a)), in[0].shape())};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return at.in[0].graph().add(std::make_shared<const ProjectOutBackwardOp>(groups_),
                                    {at.in[0], at.in[1], at.d_out[0], Tensor(), Tensor()});
    }

    void lower(Lowering& to) const override {
        const Tensor o = to.in[0], v = to.in[1];
        const std::int64_t width = o.width() / groups_;
        const PairRows grid = short_pair_rows(to.device, o.rows() * groups_, width);
        const auto count = static_cast<double>(o.elements());
        to.dispatch({.kernel = "project_out",
                     .constants = {{"GROUP", grid.group},
                                   {"WIDTH", extent(width)},
                                   {"STRIP", grid.strip},
                                   {"PAIR", grid.form({o, v, to.out[0]})},
                                   {"GROUPS", extent(groups_)},
                                   {"ROW_PER_LANE", grid.own}},
                     .args = {{"o", o},
                              {"v", v},
                              {"y", to.out[0]},
                              {"rows", extent(o.rows())},
                              {"o_pitch", extent(o.pitch())},
                              {"v_pitch", extent(v.pitch())},
                              {"per_group", grid.per_group}},
                     .groups = grid.groups,
                     .flops = 6.0 * count,
                     .bytes = 12.0 * count});
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }  // a group is read before it is written
    Halves halves(std::span<const Tensor> in) const override {
        return even_groups(in[0], groups_) ? Halves{0b11, 0b1, Halves::Rule::together} : Halves{};
    }

private:
    std::int64_t groups_;
};

}  // namespace

Tensor project_out(Tensor o, Tensor v, std::int64_t groups, std::int64_t value_heads) {
    return add_one(o.graph(), ProjectOutOp(groups), {o, match_heads(v, o, value_heads)});
}

}  // namespace vkf
