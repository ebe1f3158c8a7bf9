// Attention by cooperative matrices: what ops/attention_test.cpp asks of the others, with operands of 16 bits.
// Skipped where the device has none; tools/mesa26 runs them with no GPU.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/attention.h"
#include "ops/group_matrices.h"
#include "program/program.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

constexpr std::int64_t WORD = std::int64_t{1} << 31;

struct MixedCase {
    std::string name;
    std::int64_t batch, queries, keys, width;
    std::int64_t heads = 2, kv_heads = 2;
    std::int64_t padding = 0;
    AttentionOptions options = {};
    double spread = 1.0;
};

OpCase op_case(const MixedCase& c) {
    const auto operand = [&](std::int64_t count, std::int64_t heads, double spread) {
        Operand made = normal({c.batch, count, heads * c.width}, spread);
        made.padding = c.padding;
        return made;
    };
    AttentionOptions options = c.options;
    options.heads = c.heads;
    options.kv_heads = c.kv_heads;
    return {c.name,
            {operand(c.queries, c.heads, c.spread), operand(c.keys, c.kv_heads, 1.0), operand(c.keys, c.kv_heads, 1.0),
             integers({2}, -WORD, WORD)},
            [options](Inputs x) {
                AttentionOptions chosen = options;
                if (options.dropout > 0) chosen.seed = x[3];
                return std::vector{attention(x[0], x[1], x[2], chosen)};
            }};
}

/// A tensor of heads as a kernel finds it, what its elements lose in 16 bits, and what an output may be off.
struct Heads {
    std::int64_t length, heads, width, pitch;
    std::vector<double> at, lost;

    Heads(const Array& from, std::int64_t heads_, std::int64_t width_, MatrixElement element)
        : length(from.shape[1]), heads(heads_), width(width_), pitch(from.shape.width()), at(from.at) {
        for (const double x : at) {
            const auto value = static_cast<float>(x);
            const float rounded =
                element == MatrixElement::bf16 ? from_bfloat16(to_bfloat16(value)) : from_half(to_half(value));
            lost.push_back(std::abs(x - static_cast<double>(rounded)));
        }
    }

    std::size_t row(std::int64_t b, std::int64_t i, std::int64_t head) const {
        return static_cast<std::size_t>((b * length + i) * pitch + head * width);
    }
    double size(std::size_t i) const { return std::abs(at[i]); }
    double most(std::size_t i) const { return size(i) + lost[i]; }
};

/// <a, b> of two rows, and by how much a kernel may miss it: what rounding takes from the factors, and an fp32 sum's
/// error of 2^-24 of all magnitudes for each of its terms.
struct Dot {
    double value = 0, off = 0, magnitude = 0;

    Dot(const Heads& a, std::size_t at_a, const Heads& b, std::size_t at_b) {
        double most = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(a.width); ++c) {
            value += a.at[at_a + c] * b.at[at_b + c];
            magnitude += a.size(at_a + c) * b.size(at_b + c);
            most += a.most(at_a + c) * b.most(at_b + c);
        }
        off = most - magnitude + std::ldexp(static_cast<double>(a.width) + 4, -24) * most;
    }
};

/// How far each output may be from the interpreter's, of the same operands; to first order in what follows by letters.
///   s   off by E = scale · Dot::off at most in a row, hence p and the p that backward makes again by a factor e^(2 E):
///       numerator and denominator, or s and lse.
///   p   and ds are rounded: by u = 2^-11 or 2^-8 of themselves, in fp16 below 2^-14 by 2^-25.
///   o   Σ p v is off by what p and v are.
///   ds  = p (<g, v> - delta), with delta = <g, o> and the o of above.
/// Errors of fp32 arithmetic are 2^-24 for each term of a sum and each of a few dozen steps, an exponential's also for
/// each unit of its exponent. Dropout is taken for its largest factor and all terms for positive.
Arrays limits(const MixedCase& c, const MixedRun& run) {
    const Heads q(run.leaves.at("x0"), c.heads, c.width, run.element);
    const Heads k(run.leaves.at("x1"), c.kv_heads, c.width, run.element);
    const Heads v(run.leaves.at("x2"), c.kv_heads, c.width, run.element);
    const Heads g(run.leaves.at("w0"), c.heads, c.width, run.element);
    const bool fp16 = run.element == MatrixElement::fp16;
    const double u = std::ldexp(1.0, fp16 ? -11 : -8), tiny = fp16 ? std::ldexp(1.0, -25) : 0.0;
    const double step = std::ldexp(1.0, -24), keep = 1 / (1 - static_cast<double>(c.options.dropout));
    const double scale = c.options.scale_for(c.width);
    const auto signless = [&](double x) { return c.options.dropout > 0 ? std::abs(x) : x; };
    const auto width = static_cast<std::size_t>(c.width);
    const double sums = step * static_cast<double>(std::max(c.keys, c.queries * c.heads) + 8);

    const auto zeros = [&](std::int64_t count, std::int64_t heads) {
        const Shape shape{c.batch, count, heads * c.width};
        return Array{shape, std::vector<double>(static_cast<std::size_t>(shape.elements()))};
    };
    Array off_o = zeros(c.queries, c.heads), off_q = off_o, off_k = zeros(c.keys, c.kv_heads), off_v = off_k;
    const auto place = [&](std::int64_t b, std::int64_t i, std::int64_t head, std::int64_t count, std::int64_t heads) {
        return static_cast<std::size_t>(((b * count + i) * heads + head) * c.width);
    };

    for (std::int64_t b = 0; b < c.batch; ++b)
        for (std::int64_t m = 0; m < c.heads; ++m)
            for (std::int64_t i = 0; i < c.queries; ++i) {
                const std::int64_t kv = m * c.kv_heads / c.heads, position = i + c.keys - c.queries;
                const std::size_t at_q = q.row(b, i, m), at_g = g.row(b, i, m);
                struct Pair {
                    std::int64_t j;
                    double p;
                };
                std::vector<Pair> pairs;
                double top = -INFINITY, largest = 0, most_off = 0, sum = 0;
                for (std::int64_t j = 0; j < c.keys; ++j) {
                    if ((c.options.causal && j > position) || (c.options.mask_diagonal && j == position)) continue;
                    const Dot s(q, at_q, k, k.row(b, j, kv));
                    pairs.push_back({j, scale * s.value});
                    top = std::max(top, scale * s.value);
                    largest = std::max(largest, std::abs(scale * s.value));
                    most_off = std::max(most_off, scale * s.off);
                }
                for (Pair& pair : pairs) sum += pair.p = std::exp(pair.p - top);
                const double exponentials = step * (8 * largest + 64) + sums;
                const double off_p = std::expm1(2 * most_off) + exponentials;  // relative

                const std::size_t at_o = place(b, i, m, c.queries, c.heads);
                std::vector<double> o(width);
                for (Pair& pair : pairs) {
                    pair.p /= sum;
                    const std::size_t at_v = v.row(b, pair.j, kv);
                    const double weight = pair.p * keep, most = weight * (1 + off_p) * (1 + u) + tiny;
                    for (std::size_t d = 0; d < width; ++d) {
                        o[d] += weight * signless(v.at[at_v + d]);
                        off_o.at[at_o + d] += (1 + sums) * most * v.most(at_v + d) - weight * v.size(at_v + d);
                    }
                }
                double delta = 0, off_delta = 0;
                for (std::size_t d = 0; d < width; ++d) {
                    delta += signless(g.at[at_g + d]) * o[d];
                    off_delta += g.size(at_g + d) * (off_o.at[at_o + d] + (run.packed + sums) * std::abs(o[d]));
                }
                for (const Pair& pair : pairs) {
                    const std::size_t at_k = k.row(b, pair.j, kv), out_k = place(b, pair.j, kv, c.keys, c.kv_heads);
                    const Dot up(g, at_g, v, v.row(b, pair.j, kv));
                    const double slope = keep * signless(up.value);
                    const double difference = std::abs(slope - delta) + (c.options.dropout > 0 ? 2 * delta : 0);
                    const double ds = pair.p * difference;
                    const double off_ds =
                        off_p * ds + pair.p * (1 + off_p) *
                                         (keep * up.off + off_delta + 4 * step * (std::abs(slope) + std::abs(delta)));
                    const double most_ds = (ds + off_ds) * (1 + u) + tiny;
                    const double weight = pair.p * keep, most = weight * (1 + off_p) * (1 + u) + tiny;
                    for (std::size_t d = 0; d < width; ++d) {
                        off_q.at[at_o + d] += scale * ((1 + sums) * most_ds * k.most(at_k + d) - ds * k.size(at_k + d));
                        off_k.at[out_k + d] +=
                            scale * ((1 + sums) * most_ds * q.most(at_q + d) - ds * q.size(at_q + d));
                        off_v.at[out_k + d] += (1 + sums) * most * g.most(at_g + d) - weight * g.size(at_g + d);
                    }
                }
            }
    Arrays off{{"y0", off_o}, {"d_x0", off_q}, {"d_x1", off_k}, {"d_x2", off_v}};
    for (auto& [name, array] : off)
        for (std::size_t i = 0; i < array.at.size(); ++i)
            array.at[i] += run.packed * (array.at[i] + std::abs(run.wanted.at(name).at[i])) + run.packed_least;
    return off;
}

/// Few widths and masks: each makes three kernels, which take Mesa's CPU device many seconds to compile.
std::vector<MixedCase> mixed_cases() {
    const AttentionOptions causal{.causal = true};
    const AttentionOptions both{.causal = true, .mask_diagonal = true};
    return {
        {"one query", 2, 1, 19, 8},  // decoding: stays with the kernels of fp32
        {"seven", 1, 7, 7, 8, 2, 2, 0, causal},
        {"gpt", 2, 65, 65, 16, 3, 3, 0, causal},
        {"two workgroups", 1, 129, 129, 16, 2, 2, 0, causal},
        {"causal, more keys", 1, 70, 131, 16, 2, 2, 0, causal},
        {"causal, fewer keys", 1, 131, 70, 16, 2, 2, 0, causal},  // the first queries see none
        {"grouped", 1, 66, 80, 16, 6, 2, 0, causal},
        {"aligned slices", 2, 68, 68, 16, 2, 1, 4, causal},
        {"even slices", 2, 68, 68, 16, 2, 1, 6, causal},
        {"steep", 1, 65, 65, 16, 1, 1, 0, causal, 30.0},
        {"vanishing", 1, 65, 65, 16, 1, 1, 0, causal, 1e-6},
        {"vit", 2, 65, 65, 16, 3, 3},
        {"causal off the diagonal", 1, 66, 66, 16, 2, 2, 0, both},
        {"dropout, causal, grouped", 1, 70, 70, 16, 4, 2, 0, {.causal = true, .dropout = 0.3f, .salt = 9}},
        {"width 1", 1, 18, 21, 1, 1, 1, 0, causal},
        {"width 7, odd slices", 2, 40, 31, 7, 2, 1, 3},
        {"width 72", 1, 65, 65, 72, 1, 1, 0, causal},
        {"width 129", 1, 18, 21, 129, 1, 1},  // too wide: stays with the kernels of fp32
    };
}

class DeviceCooperativeAttention : public ::testing::TestWithParam<MixedCase> {};

TEST_P(DeviceCooperativeAttention, Kernels) {
    check_mixed_kernels(op_case(GetParam()), [](const MixedRun& run) { return limits(GetParam(), run); });
}

std::string mixed_name(const ::testing::TestParamInfo<MixedCase>& info) {
    return case_name({op_case(info.param), info.index});
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeAttention, ::testing::ValuesIn(mixed_cases()), mixed_name);

class DeviceCooperativeGroupAttention : public ::testing::TestWithParam<MixedCase> {};

TEST_P(DeviceCooperativeGroupAttention, Kernels) {
    DeviceTraits lowering = traits_with_group_matrices(shared_device());
    if (lowering.workgroup_matrices == 0)
        GTEST_SKIP() << shared_device().info().name << " has no flexible matrices that kernels can use";
    GroupMatricesFirst autotuner;
    lowering.autotuner = &autotuner;
    check_mixed_kernels(
        op_case(GetParam()), [](const MixedRun& run) { return limits(GetParam(), run); }, lowering);
    EXPECT_GT(autotuner.chosen, 0);
}

/// Fewer still, for the same reason: four sets of constants.
std::vector<MixedCase> group_cases() {
    const AttentionOptions causal{.causal = true};
    return {
        {"two workgroups", 1, 129, 129, 16, 2, 2, 0, causal},
        {"two batches, more keys", 2, 70, 131, 16, 2, 2, 0, causal},
        {"fewer keys", 1, 131, 70, 16, 2, 2, 0, causal},  // the first queries see none
        {"steep", 1, 65, 65, 16, 2, 2, 0, causal, 30.0},
        {"vanishing", 1, 65, 65, 16, 2, 2, 0, causal, 1e-6},
        {"dropout, grouped", 2, 70, 70, 16, 4, 2, 0, {.causal = true, .dropout = 0.3f, .salt = 9}},
        {"even slices off the diagonal", 2, 68, 68, 16, 2, 1, 6, {.causal = true, .mask_diagonal = true}},
        {"width 7, odd slices", 2, 40, 33, 7, 2, 1, 3},
    };
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceCooperativeGroupAttention, ::testing::ValuesIn(group_cases()), mixed_name);

/// o of 65 queries, 2 heads of 16 and 70 keys: the whole of k and v, or the first rows of a cache whose rest is NaN.
std::vector<float> attend_to(const DeviceTraits& lowering, std::int64_t capacity, bool cache) {
    constexpr std::int64_t queries = 65, keys = 70, width = 32;
    Device& device = shared_device();
    Graph graph;
    const Tensor q = graph.input("q", {DType::f32, {1, queries, width}});
    const Tensor k = graph.input("k", {DType::f32, {1, capacity, width}});
    const Tensor length = graph.input("length", {DType::i32, {1}});
    AttentionOptions options{.heads = 2, .kv_heads = 2, .causal = true};
    if (cache) options.length = length;
    graph.output("o", attention(q, k, k, options));
    State state(device);
    Program program(device, graph, state, {.traits = lowering});
    std::vector<float> x(static_cast<std::size_t>(capacity * width), std::nanf(""));
    for (std::size_t i = 0; i < keys * width; ++i) x[i] = std::sin(static_cast<float>(i));
    program.write("q", std::vector<float>(x.begin(), x.begin() + queries * width));
    program.write("k", x);
    if (cache) program.write("length", std::vector<std::int32_t>{keys});
    program.run();
    return program.read("o");
}

TEST(DeviceCooperativeAttentionCache, IsReadAsFarAsItIsFilled) {
    const DeviceTraits lowering = traits_with_matrices(shared_device());
    if (!lowering.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    EXPECT_EQ(attend_to(lowering, 90, true), attend_to(lowering, 70, false));
}

TEST(DeviceCooperativeGroupAttentionCache, IsReadAsFarAsItIsFilled) {
    DeviceTraits lowering = traits_with_group_matrices(shared_device());
    if (lowering.workgroup_matrices == 0) GTEST_SKIP() << shared_device().info().name << " has no flexible matrices";
    GroupMatricesFirst autotuner;
    lowering.autotuner = &autotuner;
    EXPECT_EQ(attend_to(lowering, 90, true), attend_to(lowering, 70, false));
    EXPECT_EQ(autotuner.chosen, 2);
}

}  // namespace
}  // namespace vkf::test
