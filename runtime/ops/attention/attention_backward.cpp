// Derivative of attention, which recomputes the probabilities.
#include "base/error.h"
#include "base/integers.h"
#include "ops/attention/attention_parts.h"
#include "ops/attention/project_out_launch.h"

namespace vkf {

namespace {

/// d_q, d_k and d_v from (q, k, v, seed, query lengths, key lengths, o or nothing, lse, d_o, addend of d_v or nothing,
/// delta if there is no o).
class AttentionBackwardOp : public Op {
public:
    explicit AttentionBackwardOp(const AttentionOptions& options) : options_(options) {}

    std::string_view name() const override { return "attention_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const AttentionExtents e(options_, in[query].shape, in[key].shape, in[value].shape);
        const TensorType wanted{DType::f32, {e.B, e.T, e.M * e.D_V}}, of_row{DType::f32, {e.B, e.M, e.T}};
        require(in[d_o] == wanted, "d_o is ", in[d_o], ", wanted ", wanted);
        require(in[o] == wanted || in[delta] == of_row, "delta is ", in[delta], ", wanted ", of_row);
        return {in[query], in[key], in[value]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const AttentionExtents e(options_, in[query].shape, in[key].shape, in[value].shape);
        const DropoutMask dropout(options_, in[seed]);
        const double scale = options_.scale_for(e.D);
        e.each_row([&](std::int64_t b, std::int64_t m, std::int64_t i) {
            const AttentionRow row(options_, e, in, b, m, i);
            const std::size_t at_q = e.q_at(b, i, m);
            const double* g = &in[d_o].at[e.o_at(b, i, m)];
            double g_o = 0;  // <d_o, o> with d_o in its stored format, which the op that made delta did not know
            for (std::int64_t j = 0; j < e.S && in[o].at.empty(); ++j)
                g_o += row.p[as_index(j)] * dropout.factor(b * e.M + m, i, j) *
                       dot(g, &in[value].at[e.v_at(b, j, m)], e.D_V);
            if (!in[o].at.empty()) g_o = dot(g, &in[o].at[e.o_at(b, i, m)], e.D_V);
            for (std::int64_t j = 0; j < e.S; ++j) {
                const double p = row.p[as_index(j)];
                if (p == 0) continue;
                const double kept = dropout.factor(b * e.M + m, i, j);
                const std::size_t at_k = e.k_at(b, j, m), at_v = e.v_at(b, j, m);
                const double d_s = scale * p * (kept * dot(g, &in[value].at[at_v], e.D_V) - g_o);
                for (std::size_t c = 0; c < as_index(e.D); ++c) {
                    out[0].at[at_q + c] += d_s * in[key].at[at_k + c];
                    out[1].at[at_k + c] += d_s * in[query].at[at_q + c];
                }
                for (std::size_t c = 0; c < as_index(e.D_V); ++c) out[2].at[at_v + c] += p * kept * g[c];
            }
        });
        for (std::size_t i = 0; i < in[more].at.size(); ++i) out[2].at[i] += in[more].at[i];
        return true;
    }

    void lower(Lowering& lowering) const override {
        const AttentionExtents e(options_, lowering.in[query].shape(), lowering.in[key].shape(),
                                 lowering.in[value].shape());
        const Tensor given = lowering.in[delta];
        const AttentionDerivative of{.o = given ? Tensor() : lowering.in[o],
                                     .lse = lowering.in[lse],
                                     .d_o = lowering.in[d_o],
                                     .delta = given ? ArgValue{given} : ArgValue{lowering.scratch(e.B * e.M * e.T)},
                                     .d_v_addend = lowering.in[more],
                                     .d_q = lowering.out[0],
                                     .d_k = lowering.out[1],
                                     .d_v = lowering.out[2]};
        lower_query_gradient(lowering, backward_tile(lowering, options_, AttentionPass::query_gradient), options_, of);
        lower_key_gradient(lowering, backward_tile(lowering, options_, AttentionPass::key_gradient), options_, of);
    }

    KernelTraits kernel_traits(std::span<const Tensor> at) const override {
        KernelTraits made = traits_of_heads(options_, at, 0b111 | 1u << o | 1u << d_o | 1u << more, 0b111);
        made.strided_outputs = 0b111;
        made.epilogue_add = {.output = 2, .addend = more};
        return made;
    }
    bool may_alias(std::size_t output, std::size_t input) const override { return output == 2 && input == more; }

private:
    enum Saved : std::size_t { o = attention_operands, lse, d_o, more, delta };

    AttentionOptions options_;
};

double bytes_of(std::initializer_list<Tensor> tensors) {
    double sum = 0;
    for (const Tensor& tensor : tensors) sum += 4.0 * static_cast<double>(tensor.elements());
    return sum;
}

}  // namespace

AttentionTile backward_tile(const Lowering& lowering, const AttentionOptions& options, AttentionPass pass) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    return attention_tile(lowering.device, attention_implementation(lowering.device, options, e, lowering.in, true),
                          pass, e.size());
}

void lower_query_gradient(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                          const AttentionDerivative& derivative) {
    const Tensor q = lowering.in[query], k = lowering.in[key], v = lowering.in[value];
    const AttentionExtents e(options, q.shape(), k.shape(), v.shape());
    Dispatch made = attention_dispatch(tile, options, e, lowering.in);
    made.flops = 2.0 * attention_pairs(options, e) * static_cast<double>(2 * e.D + e.D_V);
    made.bytes = bytes_of({q, k, v, derivative.d_o, q}) + (derivative.o ? bytes_of({derivative.d_o}) : 0.0);
    made.constants.emplace_back("GIVEN_DELTA", !derivative.o);
    align_attention(made, e, {q, k, v, derivative.d_o, derivative.d_q});
    made.args.insert(made.args.end(), {{"lse", derivative.lse},
                                       {"g", derivative.d_o},
                                       {"o", or_null(derivative.o)},
                                       {"given_delta", derivative.o ? ArgValue{} : derivative.delta},
                                       {"delta", derivative.o ? derivative.delta : ArgValue{}},
                                       {"dq", derivative.d_q},
                                       {"dq_pitch", checked_u32(derivative.d_q.pitch())}});
    lowering.dispatch(std::move(made));
}

void lower_key_gradient(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                        const AttentionDerivative& derivative) {
    const Tensor q = lowering.in[query], k = lowering.in[key], v = lowering.in[value];
    const AttentionExtents e(options, q.shape(), k.shape(), v.shape());
    Dispatch made = attention_dispatch(tile, options, e, lowering.in);
    made.flops = 2.0 * attention_pairs(options, e) * static_cast<double>(2 * e.D + 2 * e.D_V);
    made.bytes = bytes_of({q, k, v, derivative.d_o, k, v}) + (derivative.d_v_addend ? bytes_of({v}) : 0.0);
    made.constants.emplace_back("ADDEND", static_cast<bool>(derivative.d_v_addend));
    align_attention(made, e, {q, k, v, derivative.d_o, derivative.d_k, derivative.d_v});
    made.args.insert(made.args.end(), {{"lse", derivative.lse},
                                       {"g", derivative.d_o},
                                       {"delta", derivative.delta},
                                       {"dk", derivative.d_k},
                                       {"dv", derivative.d_v},
                                       {"dk_pitch", checked_u32(derivative.d_k.pitch())},
                                       {"dv_pitch", checked_u32(derivative.d_v.pitch())},
                                       {"addend", or_null(derivative.d_v_addend)}});
    lowering.dispatch(std::move(made));
}

std::vector<Tensor> attention_gradients(const AttentionOptions& options, std::span<const Tensor> in,
                                        const AttentionResult& result) {
    std::vector<Tensor> all(in.begin(), in.begin() + attention_operands);
    all.insert(all.end(), {result.delta ? Tensor() : result.o, result.lse, result.d_o, Tensor(), result.delta});
    std::vector<Tensor> d_in =
        in[query].graph().add(std::make_shared<const AttentionBackwardOp>(options), std::move(all));
    d_in.resize(in.size());
    return d_in;
}

}  // namespace vkf
