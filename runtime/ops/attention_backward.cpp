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
        const ArgValue row_delta = given ? ArgValue{given} : ArgValue{to.scratch(e.B * e.M * e.T)};
        const double flops = 2.0 * attention_pairs(options_, e);  // for each column
        const auto bytes = [](std::initializer_list<Tensor> tensors) {
            double sum = 0;
            for (const Tensor& tensor : tensors) sum += 4.0 * static_cast<double>(tensor.elements());
            return sum;
        };
        const Tensor q = to.in[query], k = to.in[key], v = to.in[value];
        const Tensor addend = to.in[more];
        const std::string implementation = attention_implementation(to.device, options_, e, to.in, true);
        const auto add = [&](Dispatch& made, Args own) {
            made.args.insert(made.args.end(), {{"lse", to.in[lse]}, {"g", to.in[d_o]}});
            made.args.insert(made.args.end(), own.begin(), own.end());
            to.dispatch(std::move(made));
        };
        Dispatch queries = attention_dispatch(
            attention_tile(to.device, implementation, AttentionPass::query_gradient, e.size()), options_, e, to.in);
        queries.flops = flops * static_cast<double>(2 * e.D + e.D_V);
        queries.bytes = bytes({q, k, v, to.in[d_o], q}) + (given ? 0.0 : bytes({to.in[d_o]}));
        queries.constants.emplace_back("GIVEN_DELTA", static_cast<bool>(given));
        align_attention(queries, e, {q, k, v, to.in[d_o], to.out[0]});
        add(queries, {{"o", or_null(to.in[o])},
                      {"given_delta", or_null(given)},
                      {"delta", given ? ArgValue{} : row_delta},
                      {"dq", to.out[0]},
                      {"dq_pitch", extent(to.out[0].pitch())}});
        Dispatch keys = attention_dispatch(
            attention_tile(to.device, implementation, AttentionPass::key_gradient, e.size()), options_, e, to.in);
        keys.flops = flops * static_cast<double>(2 * e.D + 2 * e.D_V);
        keys.bytes = bytes({q, k, v, to.in[d_o], k, v}) + (addend ? bytes({v}) : 0.0);
        keys.constants.emplace_back("ADDEND", static_cast<bool>(addend));
        align_attention(keys, e, {q, k, v, to.in[d_o], to.out[1], to.out[2]});
        add(keys, {{"delta", row_delta},
                   {"dk", to.out[1]},
                   {"dv", to.out[2]},
                   {"dk_pitch", extent(to.out[1].pitch())},
                   {"dv_pitch", extent(to.out[2].pitch())},
                   {"addend", or_null(addend)}});
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

}  // namespace

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
