// softmax(scale · q kᵀ) v without storing the probabilities.
#include "ops/attention/attention.h"

#include "base/error.h"
#include "base/integers.h"
#include "ops/attention/attention_parts.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// o and the log-sum-exp of each row in base 2, [B, M, T], from (q, k, v, seed, query lengths, key lengths). The last
/// three are absent where unused.
class AttentionOp : public Op {
public:
    explicit AttentionOp(const AttentionOptions& options) : options_(options) {}

    std::string_view name() const override { return "attention"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        return check_attention(options_, in);
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const AttentionExtents e(options_, in[query].shape, in[key].shape, in[value].shape);
        const DropoutMask dropout(options_, in[seed]);
        e.each_row([&](std::int64_t b, std::int64_t m, std::int64_t i) {
            const AttentionRow row(options_, e, in, b, m, i);
            out[1].at[as_index((b * e.M + m) * e.T + i)] = row.lse;
            for (std::int64_t j = 0; j < e.S; ++j) {
                if (row.p[as_index(j)] == 0) continue;
                const double p = row.p[as_index(j)] * dropout.factor(b * e.M + m, i, j);
                for (std::size_t c = 0; c < as_index(e.D_V); ++c)
                    out[0].at[e.o_at(b, i, m) + c] += p * in[value].at[e.v_at(b, j, m) + c];
            }
        });
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.d_out[1], "the log-sum-exp of attention has no derivative");
        return attention_gradients(options_, at.in, {.o = at.out[0], .lse = at.out[1], .d_o = contiguous(at.d_out[0])});
    }

    void lower(Lowering& lowering) const override {
        lower_attention(lowering, forward_tile(lowering, options_), options_, lowering.out[0], lowering.out[1]);
    }

    KernelTraits kernel_traits(std::span<const Tensor> at) const override {
        return traits_of_heads(options_, at, 0b111, 0b1);
    }

private:
    AttentionOptions options_;
};

}  // namespace

double AttentionOptions::scale_for(std::int64_t head_width) const {
    return scale != 0.0f ? static_cast<double>(scale) : 1.0 / std::sqrt(static_cast<double>(head_width));
}

std::vector<Tensor> attention_inputs(Tensor q, Tensor k, Tensor v, const AttentionOptions& options) {
    const Tensor noise = options.dropout > 0.0f ? options.seed : Tensor();
    return {q, k, v, noise, options.mask.query_lengths, options.mask.key_lengths};
}

std::vector<Tensor> attention_and_lse(const AttentionOptions& options, std::span<const Tensor> in) {
    return in[query].graph().add(std::make_shared<const AttentionOp>(options),
                                 {in.begin(), in.begin() + attention_operands});
}

Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options) {
    return attention_and_lse(options, attention_inputs(q, k, v, options)).front();
}

}  // namespace vkf
