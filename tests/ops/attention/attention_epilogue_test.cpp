// Attention's epilogues, which combine its result with the queries' own values before rounding.
#include "ops/attention/attention_epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "checks/attention/epilogue_case.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "op_check.h"
#include "ops/attention/discrepancy_launch.h"
#include "ops/attention/project_out_launch.h"
#include "ops/chosen_implementation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "program/program.h"

namespace vkf::test {
namespace {

/// Each fp32 implementation, lowered as for a GPU.
class DeviceImplementationsAttentionEpilogue : public ::testing::TestWithParam<const char*> {};

TEST_P(DeviceImplementationsAttentionEpilogue, Kernels) {
    Always always(GetParam());
    DeviceTraits lowering = traits_of_gpu(shared_device());
    lowering.autotuner = &always;
    for (const Epilogue epilogue : epilogues)
        check_kernels(with_epilogue({.name = "two blocks",
                                     .mask = {.causal = true},
                                     .batch = 2,
                                     .queries = 65,
                                     .keys = 70,
                                     .width = 14,
                                     .value_width = 10,
                                     .heads = 4,
                                     .kv_heads = 2,
                                     .dropout = 0.2f},
                                    epilogue, 2),
                      lowering);
}

INSTANTIATE_TEST_SUITE_P(Fp32, DeviceImplementationsAttentionEpilogue, ::testing::Values("subgroup", "tile"));

/// Compares all results of the op with its definition, in double.
TEST(HostAttentionEpilogue, IsTheCompositionOfPlainOps) {
    for (const Epilogue epilogue : epilogues) {
        const MaskCase c{.name = "c", .mask = {.causal = true}, .queries = 5, .keys = 7, .width = 4, .value_width = 6};
        const Arrays drawn = draw(with_epilogue(c, epilogue));
        Graph graph;
        const auto in = [&](const char* name) { return graph.input(name, {DType::f32, drawn.at(name).shape}); };
        const AttentionInputs x{in("x0"), in("x1"), in("x2"), in("x6")};
        const AttentionOptions options{.heads = c.heads, .kv_heads = c.kv_heads, .mask = c.mask};
        const Tensor o = attention(x.q, x.k, x.v, options);
        std::vector<Tensor> plain;
        if (epilogue == Epilogue::discrepancy) plain = {discrepancy(o, x.query_values, 3.0f, GammaOn::sum)};
        if (epilogue == Epilogue::discrepancy_on_value) plain = {discrepancy(o, x.query_values, 0.5f, GammaOn::value)};
        if (epilogue == Epilogue::rows || epilogue == Epilogue::both)
            plain.push_back(project_out(o, x.query_values, 1));
        if (epilogue == Epilogue::heads || epilogue == Epilogue::both)
            plain.push_back(project_out(o, x.query_values, c.heads));
        const std::vector<Tensor> made = results(epilogue, x, options);
        ASSERT_EQ(made.size(), plain.size());
        for (std::size_t k = 0; k < made.size(); ++k) {
            graph.output(text("made", k), made[k]);
            graph.output(text("plain", k), plain[k]);
        }
        const Arrays found = interpret(graph, drawn);
        for (std::size_t k = 0; k < made.size(); ++k)
            for (std::size_t i = 0; i < found.at(text("made", k)).at.size(); ++i)
                EXPECT_NEAR(found.at(text("made", k)).at[i], found.at(text("plain", k)).at[i], 1e-12);
    }
}

/// Checks the derivatives' delta in double: the interpreter's attention_backward computes delta again, so finite
/// differences cannot find a wrong one.
TEST(HostAttentionEpilogue, DeltaIsTheProductOfResultAndGradient) {
    constexpr std::int64_t batch = 2, length = 3, heads = 2, width = 4;
    const Shape shape{batch, length, heads * width};
    for (const Epilogue epilogue : epilogues) {
        const Arrays drawn = draw({"delta", {normal(shape), normal(shape), normal(shape), normal(shape)}, {}});
        Graph graph;
        const auto in = [&](const char* name) { return graph.input(name, {DType::f32, shape}); };
        const Tensor o = in("x0"), v = in("x1"), g = in("x2"), g_heads = in("x3");
        Tensor d_o, delta;
        if (epilogue == Epilogue::discrepancy || epilogue == Epilogue::discrepancy_on_value) {
            const bool on_sum = epilogue == Epilogue::discrepancy;
            const float gamma = on_sum ? 3.0f : 0.5f;
            const GammaOn on = on_sum ? GammaOn::sum : GammaOn::value;
            const Tensor y = discrepancy(o, v, gamma, on);
            const DiscrepancyGradients d = discrepancy_gradients(heads, discrepancy_weights(gamma, on), y, v, g);
            d_o = d.d_o, delta = d.delta;
        } else {
            const Projection of{heads, epilogue != Epilogue::heads, epilogue != Epilogue::rows};
            const Projected made = projected(of, project_out_by_plain_ops(of, o, v));
            const Projected given{of.of_rows ? g : Tensor(), of.of_heads ? g_heads : Tensor(), {}, {}};
            const ProjectOutGradients d = project_out_gradients(heads, project_out_operands(v, made, given));
            d_o = d.d_o, delta = d.delta;
        }
        graph.output("d_o", d_o);
        graph.output("delta", delta);
        const Arrays found = interpret(graph, drawn);
        for (std::int64_t b = 0; b < batch; ++b)
            for (std::int64_t m = 0; m < heads; ++m)
                for (std::int64_t i = 0; i < length; ++i) {
                    double wanted = 0;
                    for (std::int64_t c = 0; c < width; ++c) {
                        const auto at = static_cast<std::size_t>(((b * length + i) * heads + m) * width + c);
                        wanted += found.at("d_o").at[at] * drawn.at("x0").at[at];
                    }
                    const auto at = static_cast<std::size_t>((b * heads + m) * length + i);
                    EXPECT_NEAR(found.at("delta").at[at], wanted, 1e-12) << static_cast<int>(epilogue);
                }
    }
}

TEST(HostAttentionEpilogueShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const auto input = [&](const char* name, Shape shape) { return graph.input(name, {DType::f32, std::move(shape)}); };
    const Tensor q = input("q", {2, 5, 24}), k = input("k", {2, 7, 24}), narrow = input("narrow", {2, 5, 8});
    const AttentionOptions options{.heads = 3};
    EXPECT_NO_THROW(attention_project_out_both({q, k, k, q}, options));
    EXPECT_THROW(attention_project_out_both({q, k, k, k}, options), InputError);
    EXPECT_THROW(attention_project_out_rows({q, k, k, narrow}, options), InputError);
    EXPECT_THROW(attention_discrepancy({q, k, k, narrow}, 1.0f, GammaOn::sum, options), InputError);
    EXPECT_THROW(attention_project_out_heads({q, k, k, q}, {.heads = 3, .kv_heads = 2}), InputError);
}

/// Queries that equal keys and are so long that their mean weight on themselves is `self_weight`.
struct Sharp {
    static constexpr std::int64_t length = 40, heads = 2, width = 32;
    Array q, k, v;

    Sharp(double self_weight, Format format) {
        const OpCase drawn{"sharp", {normal({1, length, heads * width}), normal({1, length, heads * width})}, {}};
        const Arrays at = draw(drawn);
        k = stored(at.at("x0"), 1.0, format);
        v = stored(at.at("x1"), 1.0, format);
        double low = 0, high = 8;
        for (int i = 0; i < 40; ++i) {
            const double middle = (low + high) / 2;
            (weight(middle) < self_weight ? low : high) = middle;
        }
        q = stored(k, high, format);
    }

    static Array stored(Array x, double factor, Format format) {
        for (double& at : x.at) {
            const auto value = static_cast<float>(factor * at);
            at = static_cast<double>(format == Format::bf16 ? from_bfloat16(to_bfloat16(value))
                                                            : from_half(to_half(value)));
        }
        return x;
    }

    double weight(double factor) const {
        double mean = 0;
        for (std::int64_t m = 0; m < heads; ++m)
            for (std::int64_t i = 0; i < length; ++i) {
                double sum = 0;
                const auto logit = [&](std::int64_t j) {
                    double dot = 0;
                    for (std::int64_t c = 0; c < width; ++c)
                        dot += k.at[static_cast<std::size_t>((i * heads + m) * width + c)] *
                               k.at[static_cast<std::size_t>((j * heads + m) * width + c)];
                    return factor * dot / std::sqrt(static_cast<double>(width));
                };
                for (std::int64_t j = 0; j < length; ++j) sum += std::exp(logit(j) - logit(i));
                mean += 1 / sum / static_cast<double>(heads * length);
            }
        return mean;
    }
};

/// Compares perpendicular components of o, by rows and by heads, with results in double from the same stored numbers:
/// the length of the difference over the length of the result.
TEST(DeviceSharpAttention, WhatIsLeftIsRoundedOnce) {
    for (const Format format : {Format::bf16, Format::f16})
        for (const double self_weight : {0.9, 0.97, 0.99}) {
            const Sharp given(self_weight, format);
            Graph graph, exact;
            for (Graph* at : {&graph, &exact}) {
                const auto in = [&](const char* name) {
                    return scale(at->input(name, {DType::f32, given.q.shape}), 1.0f);  // stored in 16 bits
                };
                const Tensor q = in("q"), k = in("k"), v = in("v");
                const AttentionOptions options{.heads = Sharp::heads};
                const Projections left = attention_project_out_both({q, k, v, v}, options);
                at->output("rows", contiguous(left.rows));
                at->output("heads", contiguous(left.heads));
                at->output("rows alone", attention_project_out_rows({q, k, v, v}, options));
                at->output("heads alone", attention_project_out_heads({q, k, v, v}, options));
                at->output("difference", attention_discrepancy({q, k, v, v}, 1.0f, GammaOn::sum, options));
            }
            graph.activations = format;
            State state(shared_device());
            Program program(shared_device(), graph, state);
            for (const auto& [name, x] : {std::pair("q", &given.q), {"k", &given.k}, {"v", &given.v}})
                program.write(name, std::vector<float>(x->at.begin(), x->at.end()));
            program.run();
            const Arrays wanted = interpret(exact, {{"q", given.q}, {"k", given.k}, {"v", given.v}});
            for (const auto& [name, want] : wanted) {
                const std::vector<float> found = program.read(name);
                double off = 0, length = 0;
                for (std::size_t i = 0; i < found.size(); ++i) {
                    off += std::pow(static_cast<double>(found[i]) - want.at[i], 2);
                    length += std::pow(want.at[i], 2);
                }
                EXPECT_LE(std::sqrt(off / length), 0x1p-7) << name << ", " << self_weight;
            }
        }
}

}  // namespace
}  // namespace vkf::test
