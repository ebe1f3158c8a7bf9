// attention's derivative, which makes the probabilities again.
#include "base/error.h"
#include "ops/attention_parts.h"
#include "ops/project_out_launch.h"

namespace vkf {

namespace {

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// d_q, d_k and d_v from (q, k, v, seed, query lengths, key lengths, o or nothing, lse, d_o, what is to be added to
/// d_v, delta if there is no o).
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
            double g_o = 0;  // of d_o as it is kept, which who made delta did not know here
            for (std::int64_t j = 0; j < e.S && in[o].at.empty(); ++j)
                g_o +=
                    row.p[index(j)] * dropout.factor(b * e.M + m, i, j) * dot(g, &in[value].at[e.v_at(b, j, m)], e.D_V);
            if (!in[o].at.empty()) g_o = dot(g, &in[o].at[e.o_at(b, i, m)], e.D_V);
            for (std::int64_t j = 0; j < e.S; ++j) {
                const double p = row.p[index(j)];
                if (p == 0) continue;
                const double kept = dropout.factor(b * e.M + m, i, j);
                const std::size_t at_k = e.k_at(b, j, m), at_v = e.v_at(b, j, m);
                const double d_s = scale * p * (kept * dot(g, &in[value].at[at_v], e.D_V) - g_o);
                for (std::size_t c = 0; c < index(e.D); ++c) {
                    out[0].at[at_q + c] += d_s * in[key].at[at_k + c];
                    out[1].at[at_k + c] += d_s * in[query].at[at_q + c];
                }
                for (std::size_t c = 0; c < index(e.D_V); ++c) out[2].at[at_v + c] += p * kept * g[c];
            }
        });
        for (std::size_t i = 0; i < in[more].at.size(); ++i) out[2].at[i] += in[more].at[i];
        return true;
    }

    void lower(Lowering& to) const override {
        const AttentionExtents e(options_, to.in[query].shape(), to.in[key].shape(), to.in[value].shape());
        const Tensor given = to.in[delta];
        const AttentionDerivative of{.o = given ? Tensor() : to.in[o],
                                     .lse = to.in[lse],
                                     .d_o = to.in[d_o],
                                     .delta = given ? ArgValue{given} : ArgValue{to.scratch(e.B * e.M * e.T)},
                                     .d_v_addend = to.in[more],
                                     .d_q = to.out[0],
                                     .d_k = to.out[1],
                                     .d_v = to.out[2]};
        lower_query_gradient(to, backward_tile(to, options_, AttentionPass::query_gradient), options_, of);
        lower_key_gradient(to, backward_tile(to, options_, AttentionPass::key_gradient), options_, of);
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

AttentionTile backward_tile(const Lowering& to, const AttentionOptions& options, AttentionPass pass) {
    const AttentionExtents e(options, to.in[query].shape(), to.in[key].shape(), to.in[value].shape());
    return attention_tile(to.device, attention_implementation(to.device, options, e, to.in, true), pass, e.size());
}

void lower_query_gradient(Lowering& to, const AttentionTile& tile, const AttentionOptions& options,
                          const AttentionDerivative& of) {
    const Tensor q = to.in[query], k = to.in[key], v = to.in[value];
    const AttentionExtents e(options, q.shape(), k.shape(), v.shape());
    Dispatch made = attention_dispatch(tile, options, e, to.in);
    made.flops = 2.0 * attention_pairs(options, e) * static_cast<double>(2 * e.D + e.D_V);
    made.bytes = bytes_of({q, k, v, of.d_o, q}) + (of.o ? bytes_of({of.d_o}) : 0.0);
    made.constants.emplace_back("GIVEN_DELTA", !of.o);
    align_attention(made, e, {q, k, v, of.d_o, of.d_q});
    made.args.insert(made.args.end(), {{"lse", of.lse},
                                       {"g", of.d_o},
                                       {"o", or_null(of.o)},
                                       {"given_delta", of.o ? ArgValue{} : of.delta},
                                       {"delta", of.o ? of.delta : ArgValue{}},
                                       {"dq", of.d_q},
                                       {"dq_pitch", extent(of.d_q.pitch())}});
    to.dispatch(std::move(made));
}

void lower_key_gradient(Lowering& to, const AttentionTile& tile, const AttentionOptions& options,
                        const AttentionDerivative& of) {
    const Tensor q = to.in[query], k = to.in[key], v = to.in[value];
    const AttentionExtents e(options, q.shape(), k.shape(), v.shape());
    Dispatch made = attention_dispatch(tile, options, e, to.in);
    made.flops = 2.0 * attention_pairs(options, e) * static_cast<double>(2 * e.D + 2 * e.D_V);
    made.bytes = bytes_of({q, k, v, of.d_o, k, v}) + (of.d_v_addend ? bytes_of({v}) : 0.0);
    made.constants.emplace_back("ADDEND", static_cast<bool>(of.d_v_addend));
    align_attention(made, e, {q, k, v, of.d_o, of.d_k, of.d_v});
    made.args.insert(made.args.end(), {{"lse", of.lse},
                                       {"g", of.d_o},
                                       {"delta", of.delta},
                                       {"dk", of.d_k},
                                       {"dv", of.d_v},
                                       {"dk_pitch", extent(of.d_k.pitch())},
                                       {"dv_pitch", extent(of.d_v.pitch())},
                                       {"addend", or_null(of.d_v_addend)}});
    to.dispatch(std::move(made));
}

std::vector<Tensor> attention_gradients(const AttentionOptions& options, std::span<const Tensor> in,
                                        const AttentionResult& of) {
    std::vector<Tensor> all(in.begin(), in.begin() + attention_operands);
    all.insert(all.end(), {of.delta ? Tensor() : of.o, of.lse, of.d_o, Tensor(), of.delta});
    std::vector<Tensor> d_in =
        in[query].graph().add(std::make_shared<const AttentionBackwardOp>(options), std::move(all));
    d_in.resize(in.size());
    return d_in;
}

}  // namespace vkf
