// Derivative of projections, from perpendicular components and coefficients, so that o itself need not be kept.
#include <array>
#include <cfloat>

#include "base/error.h"
#include "base/integers.h"
#include "ops/attention/project_out_launch.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Below the smallest normal float, <v,v> counts as 0: there is no direction to project on.
constexpr double least_square = static_cast<double>(FLT_MIN);

/// T of [B, T, C].
std::int64_t queries(const Shape& shape) {
    return shape.rank() > 1 ? shape[-2] : 1;
}

/// d_o, d_v and delta from (perpendicular component, v, coefficients of rows, of heads, gradient of rows, of heads).
/// The component is that of heads if they have a gradient, else that of rows. Coefficients without a gradient are
/// absent.
class ProjectOutBackwardOp : public Op {
public:
    explicit ProjectOutBackwardOp(const Projection& projection) : of_(projection) {}

    std::string_view name() const override { return "project_out_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (const std::size_t g : {g_rows, g_heads})
            require(in[g] == in[residual] || !(g == g_rows ? of_.of_rows : of_.of_heads), "a gradient is ", in[g],
                    ", the result ", in[residual]);
        const std::int64_t rows = in[residual].shape.rows(), length = queries(in[residual].shape);
        return {in[residual], in[v], {DType::f32, {rows / length, of_.heads, length}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Array &y = in[residual], &values = in[v];
        const std::size_t heads = as_index(of_.heads), width = as_index(y.shape.width() / of_.heads),
                          row = heads * width;
        const std::size_t length = as_index(queries(y.shape));
        // Adds a group's part, `count` elements from `first` on, to the gradients; o − a v is y + (b − a) v.
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

    void lower(Lowering& lowering) const override {
        lowering.dispatch(project_out_backward_launch(lowering.device, of_.heads,
                                                      {lowering.in[residual], lowering.in[v], lowering.in[a_rows],
                                                       lowering.in[a_heads], lowering.in[g_rows], lowering.in[g_heads]},
                                                      {lowering.out[0], lowering.out[1], lowering.out[2]}));
    }

    bool may_alias(std::size_t output, std::size_t input) const override {  // a head is read before it is written
        return output < 2 && input != a_rows && input != a_heads;
    }
    bool optional_output(std::size_t output) const override { return output == 2; }
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        if (in[residual].width() / of_.heads % 2 != 0) return {};
        return {.half_in = 1U << residual | 1U << v | 1U << g_rows | 1U << g_heads,
                .half_out = 0b11,
                .uniform = true,
                .lower_precision = true};
    }

private:
    enum Operand : std::size_t { residual, v, a_rows, a_heads, g_rows, g_heads };

    Projection of_;
};

}  // namespace

ProjectOutOperands project_out_operands(Tensor v, const Projected& made, const Projected& d) {
    require(!d.row_coefficients && !d.head_coefficients, "the coefficients of a projection have no derivative");
    const auto given = [](Tensor gradient, Tensor x) { return gradient ? x : Tensor(); };
    return {.residual = d.heads ? made.heads : made.rows,
            .v = v,
            .a_rows = given(d.rows, made.row_coefficients),
            .a_heads = given(d.heads, made.head_coefficients),
            .g_rows = d.rows,
            .g_heads = d.heads};
}

ProjectOutGradients project_out_gradients(std::int64_t heads, const ProjectOutOperands& operands) {
    const std::vector<Tensor> out = operands.v.graph().add(
        std::make_shared<const ProjectOutBackwardOp>(operands.projection(heads)),
        {operands.residual, operands.v, operands.a_rows, operands.a_heads, operands.g_rows, operands.g_heads});
    return {out[0], out[1], out[2]};
}

Dispatch project_out_backward_launch(const DeviceTraits& device, std::int64_t heads, const ProjectOutOperands& operands,
                                     const ProjectOutGradients& into) {
    const std::int64_t width = operands.residual.width() / heads;
    const HeadRows grid = head_rows(device, operands.residual.rows(), heads, width);
    const auto pitch = [](Tensor x) { return x ? checked_u32(x.pitch()) : 0U; };
    const auto count = static_cast<double>(operands.residual.elements());
    const int gradients = (operands.g_rows ? 1 : 0) + (operands.g_heads ? 1 : 0);
    const std::array alike{operands.residual, operands.v, operands.g_rows, operands.g_heads};
    return {.kernel = "project_out_backward",
            .constants = {{"GROUP", grid.group},
                          {"WIDTH", checked_u32(width)},
                          {"STRIP", grid.strip},
                          {"LAYOUT", grid.aligned ? vector_layout(alike) : vector_layout(false)},
                          {"HEADS", checked_u32(heads)},
                          {"OF_ROWS", static_cast<bool>(operands.g_rows)},
                          {"OF_HEADS", static_cast<bool>(operands.g_heads)},
                          {"DELTA", static_cast<bool>(into.delta)},
                          {"LANES_PER_ROW", grid.lanes}},
            .args = {{"y", operands.residual},
                     {"v", operands.v},
                     {"a_rows", or_null(operands.a_rows)},
                     {"a_heads", or_null(operands.a_heads)},
                     {"g_rows", or_null(operands.g_rows)},
                     {"g_heads", or_null(operands.g_heads)},
                     {"d_o", into.d_o},
                     {"d_v", into.d_v},
                     {"delta", or_null(into.delta)},
                     {"rows", checked_u32(operands.residual.rows())},
                     {"queries", checked_u32(queries(operands.residual.shape()))},
                     {"v_pitch", checked_u32(operands.v.pitch())},
                     {"g_rows_pitch", pitch(operands.g_rows)},
                     {"g_heads_pitch", pitch(operands.g_heads)},
                     {"per_group", grid.per_group}},
            .groups = grid.groups,
            .flops = (6.0 + 10.0 * gradients) * count,
            .bytes = (16.0 + 4.0 * gradients) * count};
}

}  // namespace vkf
