// The derivative of projections, by what they leave and their coefficients: o itself need not be kept.
#include <array>
#include <cfloat>

#include "base/error.h"
#include "ops/project_out_launch.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Below the smallest normal float, <v,v> counts as 0: there is no direction to project on.
constexpr double least_square = static_cast<double>(FLT_MIN);

/// T of [B, T, C].
std::int64_t queries(const Shape& shape) {
    return shape.rank() > 1 ? shape[-2] : 1;
}

/// d_o, d_v and delta from (what is left, v, coefficients of rows, of heads, gradient of rows, of heads). What is left
/// is of heads where they have a gradient, else of rows; what belongs to one that has none is absent.
class ProjectOutBackwardOp : public Op {
public:
    explicit ProjectOutBackwardOp(const Projection& of) : of_(of) {}

    std::string_view name() const override { return "project_out_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (const std::size_t g : {g_rows, g_heads})
            require(in[g] == in[left] || !(g == g_rows ? of_.of_rows : of_.of_heads), "a gradient is ", in[g],
                    ", the result ", in[left]);
        const std::int64_t rows = in[left].shape.rows(), length = queries(in[left].shape);
        return {in[left], in[v], {DType::f32, {rows / length, of_.heads, length}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Array &y = in[left], &values = in[v];
        const std::size_t heads = index(of_.heads), width = index(y.shape.width() / of_.heads), row = heads * width;
        const std::size_t length = index(queries(y.shape));
        // What a group of `count` elements from `first` on adds to the gradients; o − a v is y + (b − a) v.
        const auto add = [&](std::size_t first, std::size_t count, const Array& g, double a, const auto& b) {
            double g_v = 0, v_v = 0;
            for (std::size_t i = first; i < first + count; ++i) {
                g_v += g.at[i] * values.at[i];
                v_v += values.at[i] * values.at[i];
            }
            const double c = v_v >= least_square ? -g_v / v_v : 0.0;
            for (std::size_t i = first; i < first + count; ++i) {
                const double d = g.at[i] + c * values.at[i];
                out[0].at[i] += d;
                out[1].at[i] += c * (y.at[i] + (b(i) - a) * values.at[i]) - a * d;
            }
        };
        const auto b = [&](std::size_t i) { return of_.of_heads ? in[a_heads].at[i / width] : in[a_rows].at[i / row]; };
        for (std::size_t first = 0; first < y.at.size(); first += row)
            if (of_.of_rows) add(first, row, in[g_rows], in[a_rows].at[first / row], b);
        for (std::size_t first = 0; first < y.at.size(); first += width)
            if (of_.of_heads) add(first, width, in[g_heads], in[a_heads].at[first / width], b);
        for (std::size_t i = 0; i < y.at.size(); ++i) {
            const std::size_t at = i / row;
            out[2].at[(at / length * heads + i / width % heads) * length + at % length] +=
                out[0].at[i] * (y.at[i] + b(i) * values.at[i]);
        }
        return true;
    }

    void lower(Lowering& to) const override {
        to.dispatch(project_out_backward_launch(
            to.device, of_.heads, {to.in[left], to.in[v], to.in[a_rows], to.in[a_heads], to.in[g_rows], to.in[g_heads]},
            {to.out[0], to.out[1], to.out[2]}));
    }

    bool may_alias(std::size_t output, std::size_t input) const override {  // a head is read before it is written
        return output < 2 && input != a_rows && input != a_heads;
    }
    bool dispensable(std::size_t output) const override { return output == 2; }
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        if (in[left].width() / of_.heads % 2 != 0) return {};
        return {.half_in = 1U << left | 1U << v | 1U << g_rows | 1U << g_heads,
                .half_out = 0b11,
                .uniform = true,
                .lower_precision = true};
    }

private:
    enum Operand : std::size_t { left, v, a_rows, a_heads, g_rows, g_heads };

    Projection of_;
};

}  // namespace

ProjectOutOperands project_out_operands(Tensor v, const Projected& made, const Projected& d) {
    require(!d.row_coefficients && !d.head_coefficients, "the coefficients of a projection have no derivative");
    const auto given = [](Tensor gradient, Tensor x) { return gradient ? x : Tensor(); };
    return {.left = d.heads ? made.heads : made.rows,
            .v = v,
            .a_rows = given(d.rows, made.row_coefficients),
            .a_heads = given(d.heads, made.head_coefficients),
            .g_rows = d.rows,
            .g_heads = d.heads};
}

ProjectOutGradients project_out_gradients(std::int64_t heads, const ProjectOutOperands& of) {
    const std::vector<Tensor> out = of.v.graph().add(std::make_shared<const ProjectOutBackwardOp>(of.projection(heads)),
                                                     {of.left, of.v, of.a_rows, of.a_heads, of.g_rows, of.g_heads});
    return {out[0], out[1], out[2]};
}

Dispatch project_out_backward_launch(const DeviceTraits& device, std::int64_t heads, const ProjectOutOperands& of,
                                     const ProjectOutGradients& into) {
    const std::int64_t width = of.left.width() / heads;
    const HeadRows grid = head_rows(device, of.left.rows(), heads, width);
    const auto pitch = [](Tensor x) { return x ? extent(x.pitch()) : 0U; };
    const auto count = static_cast<double>(of.left.elements());
    const int gradients = (of.g_rows ? 1 : 0) + (of.g_heads ? 1 : 0);
    const std::array alike{of.left, of.v, of.g_rows, of.g_heads};
    return {.kernel = "project_out_backward",
            .constants = {{"GROUP", grid.group},
                          {"WIDTH", extent(width)},
                          {"STRIP", grid.strip},
                          {"LAYOUT", grid.aligned ? vector_layout(alike) : vector_layout(false)},
                          {"HEADS", extent(heads)},
                          {"OF_ROWS", static_cast<bool>(of.g_rows)},
                          {"OF_HEADS", static_cast<bool>(of.g_heads)},
                          {"DELTA", static_cast<bool>(into.delta)},
                          {"LANES_PER_ROW", grid.lanes}},
            .args = {{"y", of.left},
                     {"v", of.v},
                     {"a_rows", or_null(of.a_rows)},
                     {"a_heads", or_null(of.a_heads)},
                     {"g_rows", or_null(of.g_rows)},
                     {"g_heads", or_null(of.g_heads)},
                     {"d_o", into.d_o},
                     {"d_v", into.d_v},
                     {"delta", or_null(into.delta)},
                     {"rows", extent(of.left.rows())},
                     {"queries", extent(queries(of.left.shape()))},
                     {"v_pitch", extent(of.v.pitch())},
                     {"g_rows_pitch", pitch(of.g_rows)},
                     {"g_heads_pitch", pitch(of.g_heads)},
                     {"per_group", grid.per_group}},
            .groups = grid.groups,
            .flops = (6.0 + 10.0 * gradients) * count,
            .bytes = (16.0 + 4.0 * gradients) * count};
}

}  // namespace vkf
