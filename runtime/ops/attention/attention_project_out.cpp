#include "ops/attention/attention_project_out.h"

#include "ops/cpu/attention_project_out_launch.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf {

namespace {

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
        if (!lower_attention_project_out_backward(lowering, tile, options_, operands(lowering.in), lowering.in[lse])) {
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

    AttentionOptions options_;
    bool own_is_value_;
};

}  // namespace

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
