#include "ops/attention_project_out.h"

#include <array>

#include "ops/arithmetic.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Whether a subgroup can make all heads of its rows, so that it has whole rows to project: on CPUs, whose subgroups
/// are workgroups, where enough of them remain to be shared out evenly, for operands in pairs of one format.
bool takes_all_heads(const DeviceTraits& device, const AttentionTile& tile, const AttentionExtents& e,
                     std::span<const Tensor> operands) {
    const Format format = operands[0].format();
    for (const Tensor& x : operands)
        if (x && x.format() != format) return false;
    const bool in_registers = tile.kernel == "attention" || tile.kernel == "attention_backward_q";
    const bool in_pairs = e.D % 2 == 0 && e.D_V % 2 == 0 && all_even(operands);
    return device.cpu && in_registers && in_pairs &&
           tile.groups / static_cast<std::uint64_t>(e.M) >= std::uint64_t{device.compute_units} * 8;
}

/// The launch of a kernel that takes all heads, with the constants that shaders/lib/head_rows.glsl wants.
Dispatch of_all_heads(const Lowering& to, AttentionTile tile, const AttentionOptions& options,
                      const AttentionExtents& e, const char* kernel, const Projection& of) {
    tile.kernel = kernel;
    tile.groups /= static_cast<std::uint64_t>(e.M);
    Dispatch made = attention_dispatch(tile, options, e, to.in);
    const HeadRows rows = head_rows(to.device, e.B * e.T, e.M, e.D_V);
    made.constants.insert(
        made.constants.end(),
        {{"STRIP", rows.strip}, {"LANES_PER_ROW", rows.lanes}, {"OF_ROWS", of.of_rows}, {"OF_HEADS", of.of_heads}});
    return made;
}

/// A table's one row.
Table::Column one(Tensor x) {
    return std::vector{x};
}
Table::Column pitch(Tensor x) {
    return std::vector{x ? extent(x.pitch()) : 0U};
}

/// d_q, d_k, d_v, d_o, d_own_v and delta from attention's inputs, those of a projection's gradients and lse. Where
/// own_v is v, d_v is the sum of both.
class AttentionProjectOutBackwardOp : public Op {
public:
    AttentionProjectOutBackwardOp(const AttentionOptions& options, bool own_is_value)
        : options_(options), own_is_value_(own_is_value) {}

    std::string_view name() const override { return "attention_project_out_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &q = in[query].shape, &o = in[left].shape;
        return {in[query], in[key], in[value], in[left], in[own], {DType::f32, {q[0], options_.heads, o[1]}}};
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        const auto [d_o, d_own, delta] = project_out_gradients(options_.heads, operands(in));
        const std::vector<Tensor> d = attention_gradients(options_, in, {.lse = in[lse], .d_o = d_o, .delta = delta});
        return {d[query], d[key], own_is_value_ ? add(d[value], d_own) : d[value], d_o, d_own, delta};
    }

    void lower(Lowering& to) const override {
        const AttentionDerivative of{.lse = to.in[lse],
                                     .d_o = to.out[3],
                                     .delta = to.out[5],
                                     .d_v_addend = own_is_value_ ? to.out[4] : Tensor(),
                                     .d_q = to.out[0],
                                     .d_k = to.out[1],
                                     .d_v = to.out[2]};
        const AttentionTile tile = backward_tile(to, options_, AttentionPass::query_gradient);
        if (!lower_together(to, tile)) {
            to.dispatch(project_out_backward_launch(to.device, options_.heads, operands(to.in),
                                                    {to.out[3], to.out[4], to.out[5]}));
            lower_query_gradient(to, tile, options_, of);
        }
        lower_key_gradient(to, backward_tile(to, options_, AttentionPass::key_gradient), options_, of);
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        KernelTraits made =
            traits_of_heads(options_, in, 0b111 | 1U << left | 1U << own | 1U << g_rows | 1U << g_heads, 0b11111);
        made.strided_outputs = 0b111;
        made.read_back = 0b111000;
        return made;
    }
    bool may_alias(std::size_t output, std::size_t input) const override {  // a head is read before it is written
        return (output == 3 || output == 4) && (input == left || input == g_rows || input == g_heads);
    }

private:
    enum Operand : std::size_t { left = attention_operands, own, a_rows, a_heads, g_rows, g_heads, lse };

    static ProjectOutOperands operands(std::span<const Tensor> in) {
        return {in[left], in[own], in[a_rows], in[a_heads], in[g_rows], in[g_heads]};
    }

    /// All but the gradients of keys and values.
    bool lower_together(Lowering& to, const AttentionTile& tile) const {
        const AttentionExtents e(options_, to.in[query].shape(), to.in[key].shape(), to.in[value].shape());
        const ProjectOutOperands of = operands(to.in);
        const std::array all{to.in[query], to.in[key], to.in[value], of.left,   of.v,
                             of.g_rows,    of.g_heads, to.out[0],    to.out[3], to.out[4]};
        if (!takes_all_heads(to.device, tile, e, all)) return false;
        Dispatch made =
            of_all_heads(to, tile, options_, e, "attention_project_out_backward_q", of.projection(options_.heads));
        made.constants.insert(made.constants.end(), {{"GIVEN_DELTA", true}, {"DELTA", true}});
        Table gradient{{{"y", one(of.left)},
                        {"v", one(of.v)},
                        {"a_rows", one(of.a_rows)},
                        {"a_heads", one(of.a_heads)},
                        {"g_rows", one(of.g_rows)},
                        {"g_heads", one(of.g_heads)},
                        {"d_o", one(to.out[3])},
                        {"d_v", one(to.out[4])},
                        {"delta", one(to.out[5])},
                        {"queries", std::vector{extent(e.T)}},
                        {"v_pitch", pitch(of.v)},
                        {"g_rows_pitch", pitch(of.g_rows)},
                        {"g_heads_pitch", pitch(of.g_heads)}}};
        made.args.insert(made.args.end(), {{"o", ArgValue{}},
                                           {"lse", to.in[lse]},
                                           {"d_o", to.out[3]},
                                           {"delta", to.out[5]},
                                           {"dq", to.out[0]},
                                           {"gradient", std::move(gradient)},
                                           {"dq_pitch", extent(to.out[0].pitch())}});
        const int gradients = (of.g_rows ? 1 : 0) + (of.g_heads ? 1 : 0);
        const auto count = static_cast<double>(of.left.elements());
        made.flops = 2.0 * attention_pairs(options_, e) * static_cast<double>(2 * e.D + e.D_V) +
                     (6.0 + 10.0 * gradients) * count;
        made.bytes =
            4.0 * static_cast<double>(2 * to.in[query].elements() + to.in[key].elements() + to.in[value].elements()) +
            (16.0 + 4.0 * gradients) * count;
        to.dispatch(std::move(made));
        return true;
    }

    AttentionOptions options_;
    bool own_is_value_;
};

}  // namespace

bool lower_attention_project_out(Lowering& to, const AttentionTile& tile, const AttentionOptions& options,
                                 const Projection& of, Tensor own_v, const Projected& into, Tensor lse) {
    const AttentionExtents e(options, to.in[query].shape(), to.in[key].shape(), to.in[value].shape());
    const std::array all{to.in[query], to.in[key], to.in[value], own_v, into.rows, into.heads};
    if (!takes_all_heads(to.device, tile, e, all)) return false;
    Dispatch made = of_all_heads(to, tile, options, e, "attention_project_out", of);
    const bool in_place = into.rows && into.rows.format() == Format::f32;
    const ArgValue o = in_place ? ArgValue{into.rows} : ArgValue{to.scratch(own_v.elements())};
    made.constants.insert(made.constants.end(), {{"KEEP_A_ROWS", static_cast<bool>(into.row_coefficients)},
                                                 {"KEEP_A_HEADS", static_cast<bool>(into.head_coefficients)}});
    Table projection{{{"v", one(own_v)},
                      {"y_rows", one(into.rows)},
                      {"y_heads", one(into.heads)},
                      {"a_rows", one(into.row_coefficients)},
                      {"a_heads", one(into.head_coefficients)},
                      {"v_pitch", pitch(own_v)}}};
    made.args.insert(made.args.end(),
                     {{"o", o}, {"lse", lse}, {"projection", std::move(projection)}});
    const auto count = static_cast<double>(own_v.elements());
    const int results = (of.of_rows ? 1 : 0) + (of.of_heads ? 1 : 0);
    made.flops = 2.0 * attention_pairs(options, e) * static_cast<double>(e.D + e.D_V) + (4.0 + 2.0 * results) * count;
    made.bytes =
        8.0 * static_cast<double>(to.in[query].elements() + to.in[key].elements()) + (8.0 + 4.0 * results) * count;
    to.dispatch(std::move(made));
    return true;
}

AttentionProjectOutGradients attention_project_out_gradients(const AttentionOptions& options,
                                                             std::span<const Tensor> in, const ProjectOutOperands& of,
                                                             Tensor lse) {
    const bool own_is_value = of.v == in[value];
    std::vector<Tensor> all(in.begin(), in.begin() + attention_operands);
    all.insert(all.end(), {of.left, of.v, of.a_rows, of.a_heads, of.g_rows, of.g_heads, lse});
    const std::vector<Tensor> out =
        of.v.graph().add(std::make_shared<const AttentionProjectOutBackwardOp>(options, own_is_value), std::move(all));
    AttentionProjectOutGradients made{{out[0], out[1], out[2]}, own_is_value ? Tensor() : out[4]};
    made.d_in.resize(attention_operands);
    return made;
}

}  // namespace vkf
