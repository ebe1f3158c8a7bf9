#include "ops/attention_epilogue.h"

#include "base/error.h"
#include "ops/attention_parts.h"
#include "ops/attention_project_out.h"
#include "ops/discrepancy_launch.h"
#include "ops/project_out_launch.h"
#include "ops/repeat_heads.h"
#include "ops/view.h"

namespace vkf {

namespace {

constexpr std::size_t own_v = attention_operands;

std::span<const Tensor> all_but_last(std::span<const Tensor> list) {
    return list.first(list.size() - 1);
}

/// From attention's inputs and own_v, which is as wide as o, what the epilogue makes and the log-sum-exp.
class EpilogueOp : public Op {
public:
    explicit EpilogueOp(const AttentionOptions& options) : options_(options) {}

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const std::vector<TensorType> made = check_attention(options_, in);
        require(in[own_v] == made[0], "the queries' own values are ", in[own_v], ", wanted ", made[0]);
        std::vector<TensorType> types = epilogue_types(made[0]);
        types.push_back(made[1]);
        return types;
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        const std::vector<Tensor> made = attention_and_lse(options_, in);
        std::vector<Tensor> out = plain_epilogue(made[0], in[own_v]);
        out.push_back(made[1]);
        return out;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.d_out.back(), "the log-sum-exp of attention has no derivative");
        return gradients(at.in, all_but_last(at.out), all_but_last(at.d_out), at.out.back());
    }

    /// Kernels that cannot make the epilogue leave o in fp32, and so do those of one head at a time for whole rows.
    void lower(Lowering& to) const override {
        const AttentionTile tile = forward_tile(to, options_);
        const HeadEpilogue fused = head_epilogue(to.in[own_v], all_but_last(to.out));
        if (has_epilogue(tile) && fused.kind != HeadEpilogue::Kind::none) {
            lower_attention(to, tile, options_, to.out[0], to.out.back(), fused);
            return;
        }
        if (lower_together(to, tile)) return;
        const Scratch o = to.scratch(to.in[own_v].elements());
        lower_attention(to, tile, options_, o, to.out.back());
        to.dispatch(epilogue_launch(to.device, o, to.in[own_v], all_but_last(to.out)));
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        return traits_of_heads(options_, in, 0b111 | 1U << own_v, half_outputs());
    }

protected:
    const AttentionOptions& options() const { return options_; }

    virtual std::vector<TensorType> epilogue_types(const TensorType& o) const = 0;
    virtual std::vector<Tensor> plain_epilogue(Tensor o, Tensor own) const = 0;
    /// Of all inputs, given what the epilogue made and its gradients.
    virtual std::vector<Tensor> gradients(std::span<const Tensor> in, std::span<const Tensor> out,
                                          std::span<const Tensor> d_out, Tensor lse) const = 0;
    virtual Dispatch epilogue_launch(const DeviceTraits& device, const ArgValue& o, Tensor own,
                                     std::span<const Tensor> out) const = 0;
    /// By a kernel that makes all heads of a row, if there is one.
    virtual bool lower_together(Lowering&, const AttentionTile&) const { return false; }
    /// As a kernel of attention can make it; of kind none if it cannot.
    virtual HeadEpilogue head_epilogue(Tensor own, std::span<const Tensor> out) const = 0;
    virtual std::uint32_t half_outputs() const = 0;  // of the epilogue's own

private:
    AttentionOptions options_;
};

class AttentionDiscrepancyOp : public EpilogueOp {
public:
    AttentionDiscrepancyOp(const AttentionOptions& options, float gamma, GammaOn on)
        : EpilogueOp(options), gamma_(gamma), on_(on) {}

    std::string_view name() const override { return "attention_discrepancy"; }

private:
    std::vector<TensorType> epilogue_types(const TensorType& o) const override { return {o}; }
    std::vector<Tensor> plain_epilogue(Tensor o, Tensor own) const override {
        return {discrepancy(o, own, gamma_, on_)};
    }
    std::vector<Tensor> gradients(std::span<const Tensor> in, std::span<const Tensor> out,
                                  std::span<const Tensor> d_out, Tensor lse) const override {
        const auto [d_o, d_own, delta] =
            discrepancy_gradients(options().heads, discrepancy_weights(gamma_, on_), out[0], in[own_v], d_out[0]);
        std::vector<Tensor> d_in = attention_gradients(options(), in, {.lse = lse, .d_o = d_o, .delta = delta});
        d_in[own_v] = d_own;
        return d_in;
    }
    Dispatch epilogue_launch(const DeviceTraits& device, const ArgValue& o, Tensor own,
                             std::span<const Tensor> out) const override {
        return discrepancy_launch(device, o, own, discrepancy_weights(gamma_, on_), out[0]);
    }
    HeadEpilogue head_epilogue(Tensor own, std::span<const Tensor>) const override {
        const DiscrepancyWeights weights = discrepancy_weights(gamma_, on_);
        return {HeadEpilogue::Kind::discrepancy, own, {}, weights.by_o, weights.by_v};
    }
    std::uint32_t half_outputs() const override { return 0b1; }

    float gamma_;
    GammaOn on_;
};

class AttentionProjectOutOp : public EpilogueOp {
public:
    AttentionProjectOutOp(const AttentionOptions& options, bool of_rows, bool of_heads)
        : EpilogueOp(options), of_{options.heads, of_rows, of_heads} {}

    std::string_view name() const override { return "attention_project_out"; }

    const Projection& projection() const { return of_; }

private:
    std::vector<TensorType> epilogue_types(const TensorType& o) const override { return types_of(of_, o); }
    std::vector<Tensor> plain_epilogue(Tensor o, Tensor own) const override {
        return project_out_by_plain_ops(of_, o, own);
    }
    std::vector<Tensor> gradients(std::span<const Tensor> in, std::span<const Tensor> out,
                                  std::span<const Tensor> d_out, Tensor lse) const override {
        const ProjectOutOperands of = project_out_operands(in[own_v], projected(of_, out), projected(of_, d_out));
        auto [d_in, d_own] = attention_project_out_gradients(options(), in, of, lse);
        d_in.push_back(d_own);
        return d_in;
    }
    bool lower_together(Lowering& to, const AttentionTile& tile) const override {
        return lower_attention_project_out(to, tile, options(), of_, to.in[own_v], projected(of_, all_but_last(to.out)),
                                           to.out.back());
    }
    Dispatch epilogue_launch(const DeviceTraits& device, const ArgValue& o, Tensor own,
                             std::span<const Tensor> out) const override {
        return project_out_launch(device, of_, o, own, projected(of_, out));
    }
    HeadEpilogue head_epilogue(Tensor own, std::span<const Tensor> out) const override {
        if (of_.of_rows) return {};
        return {.kind = HeadEpilogue::Kind::project_out, .own_v = own, .coefficients = out[1]};
    }
    std::uint32_t half_outputs() const override { return half_outputs_of(of_); }
    /// Attention's kernels, which project heads by themselves, always write their coefficients.
    bool dispensable(std::size_t output) const override { return of_.of_rows && is_coefficients(output); }

    Projection of_;
};

std::vector<Tensor> with_own_values(const AttentionInputs& in, const AttentionOptions& options) {
    std::vector<Tensor> all = attention_inputs(in.q, in.k, in.v, options);
    const std::int64_t kv_heads = options.value_heads();
    require(kv_heads > 0 && options.heads % kv_heads == 0, options.heads, " query heads cannot share ", kv_heads,
            " key heads");
    all.push_back(repeat_heads(in.own_v, kv_heads, options.heads / kv_heads));
    return all;
}

Projections project(const AttentionInputs& in, const AttentionOptions& options, bool of_rows, bool of_heads) {
    const auto op = std::make_shared<const AttentionProjectOutOp>(options, of_rows, of_heads);
    const std::vector<Tensor> out = in.q.graph().add(op, with_own_values(in, options));
    const Projected made = projected(op->projection(), out);
    return {made.rows, made.heads};
}

}  // namespace

Tensor attention_discrepancy(const AttentionInputs& in, float gamma, GammaOn on, const AttentionOptions& options) {
    return in.q.graph().add(std::make_shared<const AttentionDiscrepancyOp>(options, gamma, on),
                            with_own_values(in, options))[0];
}

Tensor attention_project_out_rows(const AttentionInputs& in, const AttentionOptions& options) {
    return project(in, options, true, false).rows;
}

Tensor attention_project_out_heads(const AttentionInputs& in, const AttentionOptions& options) {
    return project(in, options, false, true).heads;
}

Projections attention_project_out_both(const AttentionInputs& in, const AttentionOptions& options) {
    return project(in, options, true, true);
}

}  // namespace vkf
