#include "ops/attention/attention_project_out.h"

#include <array>

#include "ops/elementwise/arithmetic.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// True if a kernel can and should compute all heads of its rows; operands must be in pairs of one format.
bool computes_rows(const DeviceTraits& device, const AttentionTile& tile, const AttentionExtents& e,
                   std::span<const Tensor> operands) {
    const Format format = operands[0].format();
    for (const Tensor& x : operands)
        if (x && x.format() != format) return false;
    return e.D % 2 == 0 && e.D_V % 2 == 0 && all_even(operands) && takes_all_heads(device, tile, e.M);
}

/// Launch of a kernel that takes all heads, with the constants of shaders/attention/head_rows.glsl.
Dispatch of_all_heads(const Lowering& lowering, AttentionTile tile, const AttentionOptions& options,
                      const AttentionExtents& e, const char* kernel, const Projection& projection) {
    tile.kernel = kernel;
    tile.groups /= static_cast<std::uint64_t>(e.M);
    Dispatch made = attention_dispatch(tile, options, e, lowering.in);
    const HeadRows rows = head_rows(lowering.device, e.B * e.T, e.M, e.D_V);
    made.constants.insert(made.constants.end(), {{"STRIP", rows.strip},
                                                 {"LANES_PER_ROW", rows.lanes},
                                                 {"OF_ROWS", projection.of_rows},
                                                 {"OF_HEADS", projection.of_heads}});
    return made;
}

/// Column of a table with one row.
Table::Column one(Tensor x) {
    return std::vector{x};
}
Table::Column pitch(Tensor x) {
    return std::vector{x ? checked_u32(x.pitch()) : 0U};
}

/// d_q, d_k, d_v, d_o, d_own_v and delta from attention's inputs, the operands of a projection's gradients, and lse. If
/// query_values is v, d_v is the sum of both gradients.
class AttentionProjectOutBackwardOp : public Op {
public:
    AttentionProjectOutBackwardOp(const AttentionOptions& options, bool own_is_value)
        : options_(options), own_is_value_(own_is_value) {}

    std::string_view name() const override { return "attention_project_out_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &q = in[query].shape, &o = in[residual].shape;
        return {in[query], in[key], in[value], in[residual], in[own], {DType::f32, {q[0], options_.heads, o[1]}}};
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        const auto [d_o, d_own, delta] = project_out_gradients(options_.heads, operands(in));
        const std::vector<Tensor> d = attention_gradients(options_, in, {.lse = in[lse], .d_o = d_o, .delta = delta});
        return {d[query], d[key], own_is_value_ ? add(d[value], d_own) : d[value], d_o, d_own, delta};
    }

    void lower(Lowering& lowering) const override {
        const AttentionDerivative of{.lse = lowering.in[lse],
                                     .d_o = lowering.out[3],
                                     .delta = lowering.out[5],
                                     .d_v_addend = own_is_value_ ? lowering.out[4] : Tensor(),
                                     .d_q = lowering.out[0],
                                     .d_k = lowering.out[1],
                                     .d_v = lowering.out[2]};
        const AttentionTile tile = backward_tile(lowering, options_, AttentionPass::query_gradient);
        if (!lower_together(lowering, tile)) {
            lowering.dispatch(project_out_backward_launch(lowering.device, options_.heads, operands(lowering.in),
                                                          {lowering.out[3], lowering.out[4], lowering.out[5]}));
            lower_query_gradient(lowering, tile, options_, of);
        }
        lower_key_gradient(lowering, backward_tile(lowering, options_, AttentionPass::key_gradient), options_, of);
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        KernelTraits made =
            traits_of_heads(options_, in, 0b111 | 1U << residual | 1U << own | 1U << g_rows | 1U << g_heads, 0b11111);
        made.strided_outputs = 0b111;
        made.read_back = 0b111000;
        return made;
    }
    bool may_alias(std::size_t output, std::size_t input) const override {  // a head is read before it is written
        return (output == 3 || output == 4) && (input == residual || input == g_rows || input == g_heads);
    }

private:
    enum Operand : std::size_t { residual = attention_operands, own, a_rows, a_heads, g_rows, g_heads, lse };

    static ProjectOutOperands operands(std::span<const Tensor> in) {
        return {in[residual], in[own], in[a_rows], in[a_heads], in[g_rows], in[g_heads]};
    }

    /// Lowers all but the gradients of keys and values to one kernel; false if that is impossible.
    bool lower_together(Lowering& lowering, const AttentionTile& tile) const {
        const AttentionExtents e(options_, lowering.in[query].shape(), lowering.in[key].shape(),
                                 lowering.in[value].shape());
        const ProjectOutOperands of = operands(lowering.in);
        const std::array all{lowering.in[query], lowering.in[key], lowering.in[value], of.residual,    of.v, of.g_rows,
                             of.g_heads,         lowering.out[0],  lowering.out[3],    lowering.out[4]};
        if (!computes_rows(lowering.device, tile, e, all)) return false;
        Dispatch made = of_all_heads(lowering, tile, options_, e, "attention_project_out_backward_q",
                                     of.projection(options_.heads));
        made.constants.insert(made.constants.end(), {{"GIVEN_DELTA", true}, {"DELTA", true}});
        Table gradient{{{"y", one(of.residual)},
                        {"v", one(of.v)},
                        {"a_rows", one(of.a_rows)},
                        {"a_heads", one(of.a_heads)},
                        {"g_rows", one(of.g_rows)},
                        {"g_heads", one(of.g_heads)},
                        {"d_o", one(lowering.out[3])},
                        {"d_v", one(lowering.out[4])},
                        {"delta", one(lowering.out[5])},
                        {"queries", std::vector{checked_u32(e.T)}},
                        {"v_pitch", pitch(of.v)},
                        {"g_rows_pitch", pitch(of.g_rows)},
                        {"g_heads_pitch", pitch(of.g_heads)}}};
        made.args.insert(made.args.end(), {{"o", ArgValue{}},
                                           {"lse", lowering.in[lse]},
                                           {"d_o", lowering.out[3]},
                                           {"delta", lowering.out[5]},
                                           {"dq", lowering.out[0]},
                                           {"gradient", std::move(gradient)},
                                           {"dq_pitch", checked_u32(lowering.out[0].pitch())}});
        const int gradients = (of.g_rows ? 1 : 0) + (of.g_heads ? 1 : 0);
        const auto count = static_cast<double>(of.residual.elements());
        made.flops = 2.0 * attention_pairs(options_, e) * static_cast<double>(2 * e.D + e.D_V) +
                     (6.0 + 10.0 * gradients) * count;
        made.bytes = 4.0 * static_cast<double>(2 * lowering.in[query].elements() + lowering.in[key].elements() +
                                               lowering.in[value].elements()) +
                     (16.0 + 4.0 * gradients) * count;
        lowering.dispatch(std::move(made));
        return true;
    }

    AttentionOptions options_;
    bool own_is_value_;
};

}  // namespace

bool projects_in_one_launch(const Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                            Tensor query_values, const Projected& into) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    const std::array all{lowering.in[query], lowering.in[key], lowering.in[value], query_values, into.rows, into.heads};
    return computes_rows(lowering.device, tile, e, all);
}

void lower_attention_project_out(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                                 const Projection& projection, Tensor query_values, const Projected& into, Tensor lse) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    Dispatch made = of_all_heads(lowering, tile, options, e, "attention_project_out", projection);
    const bool in_place = into.rows && into.rows.format() == Format::f32;
    const ArgValue o = in_place ? ArgValue{into.rows} : ArgValue{lowering.scratch(query_values.elements())};
    made.constants.insert(made.constants.end(), {{"KEEP_A_ROWS", static_cast<bool>(into.row_coefficients)},
                                                 {"KEEP_A_HEADS", static_cast<bool>(into.head_coefficients)}});
    Table results{{{"v", one(query_values)},
                   {"y_rows", one(into.rows)},
                   {"y_heads", one(into.heads)},
                   {"a_rows", one(into.row_coefficients)},
                   {"a_heads", one(into.head_coefficients)},
                   {"v_pitch", pitch(query_values)}}};
    made.args.insert(made.args.end(), {{"o", o}, {"lse", lse}, {"projection", std::move(results)}});
    const auto count = static_cast<double>(query_values.elements());
    const int count_of_results = (projection.of_rows ? 1 : 0) + (projection.of_heads ? 1 : 0);
    made.flops =
        2.0 * attention_pairs(options, e) * static_cast<double>(e.D + e.D_V) + (4.0 + 2.0 * count_of_results) * count;
    made.bytes = 8.0 * static_cast<double>(lowering.in[query].elements() + lowering.in[key].elements()) +
                 (8.0 + 4.0 * count_of_results) * count;
    lowering.dispatch(std::move(made));
}

AttentionProjectOutGradients attention_project_out_gradients(const AttentionOptions& options,
                                                             std::span<const Tensor> in,
                                                             const ProjectOutOperands& operands, Tensor lse) {
    const bool own_is_value = operands.v == in[value];
    std::vector<Tensor> all(in.begin(), in.begin() + attention_operands);
    all.insert(all.end(), {operands.residual, operands.v, operands.a_rows, operands.a_heads, operands.g_rows,
                           operands.g_heads, lse});
    const std::vector<Tensor> out = operands.v.graph().add(
        std::make_shared<const AttentionProjectOutBackwardOp>(options, own_is_value), std::move(all));
    AttentionProjectOutGradients made{{out[0], out[1], out[2]}, own_is_value ? Tensor() : out[4]};
    made.d_in.resize(attention_operands);
    return made;
}

}  // namespace vkf
