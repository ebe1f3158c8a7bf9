#include "ops/attention/attention_epilogue.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "ops/attention/attention_parts.h"
#include "ops/attention/attention_project_out.h"
#include "ops/attention/discrepancy_launch.h"
#include "ops/attention/project_out_launch.h"
#include "ops/cpu/attention_project_out_launch.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// Operand of the op after those of attention: values at the queries' own positions, as wide as o.
constexpr std::size_t query_values = attention_operands;

/// discrepancy(o, query_values, gamma, on).
struct Discrepancy {
    float gamma;
    GammaOn on;

    DiscrepancyWeights weights() const { return discrepancy_weights(gamma, on); }
};

/// Computation on o and query_values before o is rounded: discrepancy, or projections.
using Epilogue = std::variant<Discrepancy, Projection>;

/// Calls one overload per kind of epilogue.
template <class... Overloads>
struct Match : Overloads... {
    using Overloads::operator()...;
};
template <class... Overloads>
auto match(const Epilogue& epilogue, Overloads... overloads) {
    return std::visit(Match<Overloads...>{overloads...}, epilogue);
}

// --- Mathematics -----------------------------------------------------------------------------------------------------

/// Types of the epilogue's results.
std::vector<TensorType> result_types(const Epilogue& epilogue, const TensorType& o) {
    return match(
        epilogue, [&](const Discrepancy&) { return std::vector{o}; },
        [&](const Projection& p) { return types_of(p, o); });
}

/// The epilogue's results by plain ops.
std::vector<Tensor> plain_results(const Epilogue& epilogue, Tensor o, Tensor v) {
    return match(
        epilogue, [&](const Discrepancy& d) { return std::vector{discrepancy(o, v, d.gamma, d.on)}; },
        [&](const Projection& p) { return project_out_by_plain_ops(p, o, v); });
}

/// Gradients of all inputs of the op, from the epilogue's results and their gradients. o is not needed.
std::vector<Tensor> input_gradients(const Epilogue& epilogue, const AttentionOptions& options,
                                    std::span<const Tensor> in, std::span<const Tensor> results,
                                    std::span<const Tensor> d_results, Tensor lse) {
    const Tensor v = in[query_values];
    return match(
        epilogue,
        [&](const Discrepancy& d) {
            const auto [d_o, d_v, delta] =
                discrepancy_gradients(options.heads, d.weights(), results[0], v, d_results[0]);
            std::vector<Tensor> d_in = attention_gradients(options, in, {.lse = lse, .d_o = d_o, .delta = delta});
            d_in[query_values] = d_v;
            return d_in;
        },
        [&](const Projection& p) {
            auto [d_in, d_v] = attention_project_out_gradients(
                options, in, project_out_operands(v, projected(p, results), projected(p, d_results)), lse);
            d_in.push_back(d_v);
            return d_in;
        });
}

// --- Kernels ---------------------------------------------------------------------------------------------------------

/// Ways to compute attention and its epilogue.
enum class Route {
    fused,         // attention's kernel applies the epilogue to each head of o as it stores the head
    one_launch,    // attention_project_out.comp computes all heads of a row, so that it can project the whole row
    two_launches,  // attention's kernel leaves o in fp32, temporary memory, which the epilogue's own kernel reads
};

/// The fastest way that the device and the epilogue allow. A kernel of attention has one head at a time, so it cannot
/// project whole rows.
Route route(const Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
            const Epilogue& epilogue, std::span<const Tensor> results) {
    const auto* projection = std::get_if<Projection>(&epilogue);
    const bool by_heads = !projection || !projection->of_rows;
    if (by_heads && has_epilogue(tile)) return Route::fused;
    if (projection &&
        projects_in_one_launch(lowering, tile, options, lowering.in[query_values], projected(*projection, results)))
        return Route::one_launch;
    return Route::two_launches;
}

/// The epilogue as attention's kernels apply it to a head.
HeadEpilogue head_epilogue(const Epilogue& epilogue, Tensor v, std::span<const Tensor> results) {
    return match(
        epilogue,
        [&](const Discrepancy& d) {
            return HeadEpilogue{HeadEpilogue::Kind::discrepancy, v, {}, d.weights().by_o, d.weights().by_v};
        },
        [&](const Projection&) {
            return HeadEpilogue{.kind = HeadEpilogue::Kind::project_out, .query_values = v, .coefficients = results[1]};
        });
}

/// The epilogue's own kernel.
Dispatch epilogue_launch(const Epilogue& epilogue, const DeviceTraits& device, const ArgValue& o, Tensor v,
                         std::span<const Tensor> results) {
    return match(
        epilogue, [&](const Discrepancy& d) { return discrepancy_launch(device, o, v, d.weights(), results[0]); },
        [&](const Projection& p) { return project_out_launch(device, p, o, v, projected(p, results)); });
}

// --- The op ----------------------------------------------------------------------------------------------------------

/// The epilogue's results and the log-sum-exp, from attention's inputs and query_values.
class AttentionEpilogueOp : public Op {
public:
    AttentionEpilogueOp(const AttentionOptions& options, Epilogue epilogue)
        : options_(options), epilogue_(std::move(epilogue)) {}

    std::string_view name() const override {
        return std::holds_alternative<Discrepancy>(epilogue_) ? "attention_discrepancy" : "attention_project_out";
    }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const std::vector<TensorType> made = check_attention(options_, in);
        require(in[query_values] == made[0], "the queries' own values are ", in[query_values], ", wanted ", made[0]);
        std::vector<TensorType> types = result_types(epilogue_, made[0]);
        types.push_back(made[1]);
        return types;
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        const std::vector<Tensor> made = attention_and_lse(options_, in);
        std::vector<Tensor> out = plain_results(epilogue_, made[0], in[query_values]);
        out.push_back(made[1]);
        return out;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.d_out.back(), "the log-sum-exp of attention has no derivative");
        return input_gradients(epilogue_, options_, at.in, results(at.out), results(at.d_out), at.out.back());
    }

    void lower(Lowering& lowering) const override {
        const AttentionTile tile = forward_tile(lowering, options_);
        const Tensor v = lowering.in[query_values], lse = lowering.out.back();
        const std::span<const Tensor> made = results(lowering.out);
        switch (route(lowering, tile, options_, epilogue_, made)) {
            case Route::fused:
                lower_attention(lowering, tile, options_, made[0], lse, head_epilogue(epilogue_, v, made));
                break;
            case Route::one_launch: {
                const auto& projection = std::get<Projection>(epilogue_);
                lower_attention_project_out(lowering, tile, options_, projection, v, projected(projection, made), lse);
                break;
            }
            case Route::two_launches: {
                const Scratch o = lowering.scratch(v.elements());
                lower_attention(lowering, tile, options_, o, lse);
                lowering.dispatch(epilogue_launch(epilogue_, lowering.device, o, v, made));
            }
        }
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        const std::uint32_t half_out = match(
            epilogue_, [](const Discrepancy&) { return 0b1U; }, [](const Projection& p) { return half_outputs_of(p); });
        return traits_of_heads(options_, in, 0b111 | 1U << query_values, half_out);
    }

    /// Kernels of attention, which project heads, always write the coefficients.
    bool optional_output(std::size_t output) const override {
        const auto* projection = std::get_if<Projection>(&epilogue_);
        return projection && projection->of_rows && is_coefficients(output);
    }

private:
    /// The outputs without the last one, the log-sum-exp.
    static std::span<const Tensor> results(std::span<const Tensor> out) { return out.first(out.size() - 1); }

    AttentionOptions options_;
    Epilogue epilogue_;
};

/// Outputs of the op, with query_values repeated for the query heads that share them.
std::vector<Tensor> attention_with(const Epilogue& epilogue, const AttentionInputs& in,
                                   const AttentionOptions& options) {
    std::vector<Tensor> all = attention_inputs(in.q, in.k, in.v, options);
    const std::int64_t kv_heads = options.value_heads();
    require(kv_heads > 0 && options.heads % kv_heads == 0, options.heads, " query heads cannot share ", kv_heads,
            " key heads");
    all.push_back(repeat_heads(in.query_values, kv_heads, options.heads / kv_heads));
    return in.q.graph().add(std::make_shared<const AttentionEpilogueOp>(options, epilogue), std::move(all));
}

Projections project(const AttentionInputs& in, const AttentionOptions& options, bool of_rows, bool of_heads) {
    const Projection projection{options.heads, of_rows, of_heads};
    const Projected made = projected(projection, attention_with(projection, in, options));
    return {made.rows, made.heads};
}

}  // namespace

Tensor attention_discrepancy(const AttentionInputs& in, float gamma, GammaOn on, const AttentionOptions& options) {
    return attention_with(Discrepancy{gamma, on}, in, options)[0];
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
