// What is left of o once its projection on v is taken away: the heart of belief attention.
#include "ops/project_out.h"

#include "ops/project_out_launch.h"

#include <cfloat>
#include <optional>

#include "base/error.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/reduce.h"
#include "ops/repeat_heads.h"
#include "ops/vector_layout.h"
#include "ops/view.h"

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

/// Gradients of project_out with respect to o and v, from (o, v, g).
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
        return true;
    }

    void lower(Lowering& to) const override {
        const GradientPair into{to.out[0], to.out[1], to.out[0].format()};
        to.dispatch(project_out_backward_launch(to.device, groups_, {to.in[0], to.in[1], to.in[2], into}));
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }  // a group is read before it is written
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        return projection_traits(in[0], groups_, 0b111, 0b11);
    }

private:
    std::int64_t groups_;
};

class ProjectOutOp : public Op {
public:
    explicit ProjectOutOp(std::int64_t groups) : groups_(groups) {}

    std::string_view name() const override { return "project_out"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require_groups(in, groups_);
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
        return project_out_backward(at.in[0], at.in[1], at.d_out[0], groups_);
    }

    void lower(Lowering& to) const override {
        to.dispatch(project_out_launch(to.device, groups_, to.in[0], to.in[1], to.out[0]));
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }  // a group is read before it is written
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        return projection_traits(in[0], groups_, 0b11, 0b1);
    }

private:
    std::int64_t groups_;
};

}  // namespace

void require_groups(std::span<const TensorType> o_and_v, std::int64_t groups) {
    const TensorType &o = o_and_v[0], &v = o_and_v[1];
    require(o.dtype == DType::f32 && o == v, "o is ", o, ", v is ", v);
    require(groups > 0 && o.shape.width() % groups == 0, "rows of ", o.shape.width(), " do not fall into ", groups,
            " groups");
}

KernelTraits projection_traits(Tensor o, std::int64_t groups, std::uint32_t in, std::uint32_t out) {
    if (o.width() / groups % 2 != 0) return {};
    return {.half_in = in, .half_out = out, .uniform = true, .lower_precision = true};
}

Dispatch project_out_launch(const DeviceTraits& device, std::int64_t groups, Tensor o, Tensor v, Tensor y) {
    const std::int64_t width = o.width() / groups;
    const PairRows grid = short_pair_rows(device, o.rows() * groups, width);
    const auto count = static_cast<double>(o.elements());
    return {.kernel = "project_out",
            .constants = {{"GROUP", grid.group},
                          {"WIDTH", extent(width)},
                          {"STRIP", grid.strip},
                          {"LAYOUT", grid.form({o, v, y})},
                          {"GROUPS", extent(groups)},
                          {"ROW_PER_LANE", grid.own}},
            .args = {{"o", o},
                     {"v", v},
                     {"y", y},
                     {"rows", extent(o.rows())},
                     {"o_pitch", extent(o.pitch())},
                     {"v_pitch", extent(v.pitch())},
                     {"per_group", grid.per_group}},
            .groups = grid.groups,
            .flops = 6.0 * count,
            .bytes = 12.0 * count};
}

Dispatch project_out_backward_launch(const DeviceTraits& device, std::int64_t groups, const ProjectOutGradients& at) {
    const std::int64_t width = at.o.width() / groups;
    const PairRows grid = short_pair_rows(device, at.o.rows() * groups, width);
    const auto count = static_cast<double>(at.o.elements());
    const GradientPair addend = at.addend.value_or(GradientPair{});
    const auto layout = [&](const GradientPair& of) { return vector_layout(of.format, grid.aligned); };
    return {.kernel = "project_out_backward",
            .constants = {{"GROUP", grid.group},
                          {"WIDTH", extent(width)},
                          {"STRIP", grid.strip},
                          {"LAYOUT", grid.form({at.o, at.v, at.g})},
                          {"LAYOUT_D", layout(at.into)},
                          {"GROUPS", extent(groups)},
                          {"ADD", at.addend.has_value()},
                          {"LAYOUT_MORE", layout(addend)},
                          {"ROW_PER_LANE", grid.own}},
            .args = {{"o", at.o},
                     {"v", at.v},
                     {"g", at.g},
                     {"more_o", addend.d_o},
                     {"more_v", addend.d_v},
                     {"d_o", at.into.d_o},
                     {"d_v", at.into.d_v},
                     {"rows", extent(at.o.rows())},
                     {"o_pitch", extent(at.o.pitch())},
                     {"v_pitch", extent(at.v.pitch())},
                     {"g_pitch", extent(at.g.pitch())},
                     {"per_group", grid.per_group}},
            .groups = grid.groups,
            .flops = 14.0 * count,
            .bytes = (at.addend ? 28.0 : 20.0) * count};
}

std::vector<Tensor> project_out_backward(Tensor o, Tensor v, Tensor g, std::int64_t groups) {
    return o.graph().add(std::make_shared<const ProjectOutBackwardOp>(groups), {o, v, g});
}

Tensor project_out(Tensor o, Tensor v, std::int64_t groups, std::int64_t value_heads) {
    return add_one(o.graph(), ProjectOutOp(groups), {o, match_heads(v, o, value_heads)});
}

}  // namespace vkf
