// Component of o that is perpendicular to v: the heart of belief attention.
#include "ops/attention/project_out.h"

#include <cfloat>
#include <optional>

#include "base/error.h"
#include "ops/attention/project_out_launch.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/rows/reduce.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// <o,v>/<v,v> of each group of a row, [..., groups]. The divisor is positive even where <v,v> is 0, so that groups
/// without a direction project to 0.
Tensor coefficients(Tensor o, Tensor v, std::int64_t groups) {
    const Shape rows{o.rows() * groups, o.width() / groups};
    const Tensor v_v = row_sum(mul(reshape(v, rows), reshape(v, rows)));
    const Tensor one = fill(v_v.graph(), v_v.shape(), 1.0f);
    const Tensor lack = activate(sub(one, scale(v_v, 1.0f / FLT_MIN)), Activation::relu);
    const Tensor a = div(row_sum(mul(reshape(o, rows), reshape(v, rows))), add(v_v, lack));
    return reshape(a, o.shape().with_width(groups));
}

Tensor residual(Tensor o, Tensor v, Tensor a) {
    const std::int64_t groups = a.elements();
    const Shape rows{groups, o.elements() / groups};
    const Tensor along = mul(reshape(v, rows), reshape(a, {groups, 1}));
    return reshape(sub(reshape(o, rows), along), o.shape());
}

class ProjectOutOp : public Op {
public:
    explicit ProjectOutOp(const Projection& projection) : of_(projection) {}

    std::string_view name() const override { return "project_out"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require_heads(in[0], in[1], of_.heads);
        return types_of(of_, in[0]);
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        return project_out_by_plain_ops(of_, in[0], in[1]);
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const ProjectOutGradients d = project_out_gradients(
            of_.heads, project_out_operands(at.in[1], projected(of_, at.out), projected(of_, at.d_out)));
        return std::vector{d.d_o, d.d_v};
    }

    void lower(Lowering& lowering) const override {
        lowering.dispatch(
            project_out_launch(lowering.device, of_, lowering.in[0], lowering.in[1], projected(of_, lowering.out)));
    }

    bool may_alias(std::size_t output, std::size_t) const override {  // a row is read before it is written
        return output == 0 && of_.of_rows != of_.of_heads;
    }
    bool optional_output(std::size_t output) const override { return is_coefficients(output); }
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        if (in[0].width() / of_.heads % 2 != 0) return {};
        return {.half_in = 0b11, .half_out = half_outputs_of(of_), .uniform = true, .lower_precision = true};
    }

private:
    Projection of_;
};

std::vector<Tensor> project(const Projection& projection, Tensor o, Tensor v, std::int64_t value_heads) {
    return o.graph().add(std::make_shared<const ProjectOutOp>(projection), {o, match_heads(v, o, value_heads)});
}

}  // namespace

std::vector<TensorType> types_of(const Projection& projection, const TensorType& o) {
    std::vector<TensorType> types;
    if (projection.of_rows) types.insert(types.end(), {o, {DType::f32, o.shape.with_width(1)}});
    if (projection.of_heads) types.insert(types.end(), {o, {DType::f32, o.shape.with_width(projection.heads)}});
    return types;
}

Projected projected(const Projection& projection, std::span<const Tensor> outputs) {
    Projected made;
    if (projection.of_rows) made.rows = outputs[0], made.row_coefficients = outputs[1];
    const std::size_t first = projection.of_rows ? 2 : 0;
    if (projection.of_heads) made.heads = outputs[first], made.head_coefficients = outputs[first + 1];
    return made;
}

std::uint32_t half_outputs_of(const Projection& projection) {
    return projection.of_rows && projection.of_heads ? 0b101 : 0b1;
}

void require_heads(const TensorType& o, const TensorType& v, std::int64_t heads) {
    require(o.dtype == DType::f32 && o == v, "o is ", o, ", v is ", v);
    require(heads > 0 && o.shape.width() % heads == 0, "rows of ", o.shape.width(), " do not fall into ", heads,
            " groups");
}

std::vector<Tensor> project_out_by_plain_ops(const Projection& projection, Tensor o, Tensor v) {
    std::vector<Tensor> made;
    const auto project = [&](std::int64_t groups) {
        const Tensor a = coefficients(o, v, groups);
        made.insert(made.end(), {residual(o, v, a), a});
    };
    if (projection.of_rows) project(1);
    if (projection.of_heads) project(projection.heads);
    return made;
}

Dispatch project_out_launch(const DeviceTraits& device, const Projection& projection, const ArgValue& o, Tensor v,
                            const Projected& into) {
    const std::int64_t width = v.width() / projection.heads;
    const HeadRows grid = head_rows(device, v.rows(), projection.heads, width);
    const auto* tensor = std::get_if<Tensor>(&o);
    const auto count = static_cast<double>(v.elements());
    const int results = (projection.of_rows ? 1 : 0) + (projection.of_heads ? 1 : 0);
    return {.kernel = "project_out",
            .constants = {{"GROUP", grid.group},
                          {"WIDTH", checked_u32(width)},
                          {"STRIP", grid.strip},
                          {"LAYOUT", vector_layout(v, grid.aligned && even(v))},
                          {"HEADS", checked_u32(projection.heads)},
                          {"OF_ROWS", projection.of_rows},
                          {"OF_HEADS", projection.of_heads},
                          {"KEEP_A_ROWS", static_cast<bool>(into.row_coefficients)},
                          {"KEEP_A_HEADS", static_cast<bool>(into.head_coefficients)},
                          {"LAYOUT_O", tensor ? vector_layout(*tensor, grid.aligned && even(*tensor))
                                              : vector_layout(grid.aligned)},
                          {"LANES_PER_ROW", grid.lanes}},
            .args = {{"o", o},
                     {"v", v},
                     {"y_rows", or_null(into.rows)},
                     {"y_heads", or_null(into.heads)},
                     {"a_rows", or_null(into.row_coefficients)},
                     {"a_heads", or_null(into.head_coefficients)},
                     {"rows", checked_u32(v.rows())},
                     {"o_pitch", checked_u32(tensor ? tensor->pitch() : v.width())},
                     {"v_pitch", checked_u32(v.pitch())},
                     {"per_group", grid.per_group}},
            .groups = grid.groups,
            .flops = (4.0 + 2.0 * results) * count,
            .bytes = (8.0 + 4.0 * results) * count};
}

Tensor project_out(Tensor o, Tensor v, std::int64_t groups, std::int64_t value_heads) {
    return project({.heads = groups, .of_heads = true}, o, v, value_heads)[0];
}

Projections project_out_both(Tensor o, Tensor v, std::int64_t heads, std::int64_t value_heads) {
    const Projection both{.heads = heads, .of_rows = true, .of_heads = true};
    const Projected made = projected(both, project(both, o, v, value_heads));
    return {made.rows, made.heads};
}

}  // namespace vkf
