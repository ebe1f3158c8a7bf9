#include "ops/attention/attention_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/integers.h"
#include "base/random.h"
#include "ops/attention/attention.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/softmax.h"
#include "ops/tuning.h"

namespace vkf {

namespace {

constexpr std::int64_t query_heads = 2;

/// Format to which cooperative matrices round, if they are among the candidates.
std::optional<MatrixElement> element_of(const DeviceTraits& device, const AttentionSize& size) {
    const bool matrices =
        std::ranges::any_of(attention_implementations(device, size),
                            [](const std::string& implementation) { return implementation.starts_with("coopmat"); });
    return matrices ? std::optional(device.matrices->element) : std::nullopt;
}

/// Shapes of q, k and v; for a derivative also of the result's gradient g.
Shapes shapes(const AttentionProblem& kind, std::int64_t batches) {
    const std::int64_t width = kind.size.head_width, width_v = kind.size.value_width;
    const std::int64_t key_heads = kind.size.gqa_group > 1 ? 1 : query_heads;
    Shapes made{{"q", {batches, kind.size.q_len, query_heads * width}},
                {"k", {batches, kind.size.kv_len, key_heads * width}},
                {"v", {batches, kind.size.kv_len, key_heads * width_v}}};
    if (kind.backward) made["g"] = {batches, kind.size.q_len, query_heads * width_v};
    return made;
}

/// Operands of 5 bits: all formats hold them, and fp32 adds up their products exactly.
Arrays operands(const AttentionProblem& kind, std::int64_t batches) {
    Random random(1, "operands of attention");
    const auto draw = [&](const Shape& shape, double divisor) {
        Array x{shape, std::vector<double>(as_index(shape.elements()))};
        for (double& number : x.at) {
            const std::uint32_t bits = random.bits();
            number = static_cast<double>(16 + (bits >> 28)) / divisor * (bits % 2 == 0 ? 1 : -1);
        }
        return x;
    };
    Arrays made;
    const Shapes given = shapes(kind, batches);
    for (const std::string name : {"q", "k", "v", "g"})
        if (const auto found = given.find(name); found != given.end())
            made[name] = draw(found->second, name == "q" ? 8 : 32);  // some keys count for much more than others
    return made;
}

/// o, or for a derivative dq, dk and dv, of operands with these names and shapes.
std::vector<Tensor> describe(Graph& graph, const AttentionProblem& kind, const Shapes& given) {
    const auto operand = [&](const char* name) {
        // A copy, so that the operand may be packed and is between guard bands.
        return scale(graph.input(name, {DType::f32, given.at(name)}), 1.0f);
    };
    const std::array qkv{operand("q"), operand("k"), operand("v")};
    const AttentionOptions options{.heads = qkv[0].width() / kind.size.head_width,
                                   .kv_heads = qkv[1].width() / kind.size.head_width,
                                   .mask = kind.mask};
    const Tensor o = attention(qkv[0], qkv[1], qkv[2], options);
    if (!kind.backward) return {o};
    const Tensor g = operand("g");
    return gradients(std::span(&o, 1), std::span(&g, 1), qkv);
}

/// Columns [first, first + width) of one batch of [batches, length, columns].
Array heads_of(const Array& x, std::int64_t batch, std::int64_t first, std::int64_t width) {
    Array made{{1, x.shape[1], width}, {}};
    for (std::int64_t i = 0; i < x.shape[1]; ++i) {
        const auto from = x.at.begin() + (batch * x.shape[1] + i) * x.shape[2] + first;
        made.at.insert(made.at.end(), from, from + width);
    }
    return made;
}

/// softmax(scale · q kᵀ) by the plain ops.
Array probabilities(const AttentionProblem& kind, const Array& q, const Array& k, double scale) {
    Graph graph;
    const Tensor logits = matmul(graph.input("q", {DType::f32, q.shape}), graph.input("k", {DType::f32, k.shape}),
                                 {.transpose_b = true, .alpha = static_cast<float>(scale)});
    graph.output("p", softmax(logits, kind.mask));
    return interpret(graph, {{"q", q}, {"k", k}}).at("p");
}

/// Bounds of the relative errors of rows' probabilities, [queries]: twice the bound of a logit, and all other rounding.
std::vector<double> losses(const AttentionProblem& kind, std::optional<MatrixElement> element, const Array& p,
                           const Array& q, const Array& k, double sums) {
    const double scale = AttentionOptions{}.scale_for(kind.size.head_width), step = fp32_rounding;
    const Array logits = product(q, k, {.transpose_b = true});
    const Array terms = product(magnitudes(q), magnitudes(k), {.transpose_b = true});
    std::vector<double> made;
    for (std::int64_t i = 0; i < p.shape.rows(); ++i) {
        double largest = 0, most = 0;
        for (std::size_t j = as_index(i * p.shape.width()); j < as_index((i + 1) * p.shape.width()); ++j) {
            if (p.at[j] == 0) continue;
            largest = std::max(largest, scale * std::abs(logits.at[j]));
            most = std::max(most, scale * terms.at[j]);
        }
        const double of_logits = step * static_cast<double>(kind.size.head_width + 4) * most;
        const double arithmetic = 2 * of_logits + step * (8 * largest + 64) + sums;
        made.push_back((1 + arithmetic) * (1 + (element ? rounding(*element) : 0.0)) - 1);
    }
    return made;
}

/// Share of a query head in the error bounds of o, or of dq, dk and dv. Errors are those of 16-bit matrices, which
/// round queries that carry the logits' scale, probabilities and logits' gradients; of o in its stored format; and of
/// fp32 arithmetic. p has the relative error `loss`, twice that of logits and all other rounding; o has the error of p;
/// delta = <g, o> has that of o; ds = p (<g, v> - delta) has those of p and delta.
std::vector<Array> bounds(const AttentionProblem& kind, std::optional<MatrixElement> element, const Array& q,
                          const Array& k, const Array& v, const Array& g) {
    const std::int64_t rows = q.shape[1], keys = k.shape[1], width = q.shape[2], width_v = v.shape[2];
    const double scale = AttentionOptions{}.scale_for(width), step = fp32_rounding;
    const double tiny = element == MatrixElement::fp16 ? 0x1p-25 : 0.0;
    const double sums = step * static_cast<double>(std::max(keys, query_heads * rows) + 8);

    const Array p = probabilities(kind, q, k, scale);
    const std::vector<double> loss = losses(kind, element, p, q, k, sums);
    Array off_p = p, off_ds = p;
    for (std::size_t j = 0; j < p.at.size(); ++j)
        off_p.at[j] = p.at[j] > 0 ? loss[j / as_index(keys)] * p.at[j] + tiny : 0.0;
    const Array off_o = product(off_p, magnitudes(v));
    if (!kind.backward) return {off_o};
    const Array o = product(p, v), slopes = product(g, v, {.transpose_b = true});
    for (std::int64_t i = 0; i < rows; ++i) {
        double delta = 0, off_delta = 0;
        for (std::size_t c = as_index(i * width_v); c < as_index((i + 1) * width_v); ++c) {
            delta += g.at[c] * o.at[c];
            off_delta += std::abs(g.at[c]) * (off_o.at[c] + (rounding(kind.format) + sums) * std::abs(o.at[c]));
        }
        for (std::size_t j = as_index(i * keys); j < as_index((i + 1) * keys); ++j) {
            const double fp32 = 4 * step * (std::abs(slopes.at[j]) + std::abs(delta));
            const double ds = p.at[j] * (slopes.at[j] - delta);
            const double by_delta = (1 + loss[as_index(i)]) * p.at[j] * (off_delta + fp32);
            off_ds.at[j] = scale * (loss[as_index(i)] * std::abs(ds) + tiny + by_delta);
            if (p.at[j] == 0) off_ds.at[j] = 0;
        }
    }
    return {product(off_ds, magnitudes(k)), product(off_ds, magnitudes(q), {.transpose_a = true}),
            product(off_p, magnitudes(g), {.transpose_a = true})};
}

/// Expected o, or dq, dk and dv one after the other, head by key head, by the op's own reference; with `sampled` only
/// the part of the last key head.
Expected expected(const AttentionProblem& kind, std::optional<MatrixElement> element, const Arrays& given,
                  bool sampled) {
    const Shape &q = given.at("q").shape, &k = given.at("k").shape, &v = given.at("v").shape;
    const std::int64_t key_heads = k[2] / kind.size.head_width, gqa_group = query_heads / key_heads;
    const Shape o = q.with_width(query_heads * kind.size.value_width);
    Expected made;
    for (std::int64_t at = sampled ? k[0] * key_heads - 1 : 0; at < k[0] * key_heads; ++at) {
        const std::int64_t batch = at / key_heads, key_head = at % key_heads;
        const auto expect = [&](std::int64_t begin, const Shape& all, std::int64_t head, const Array& y,
                                const Array& bound) {
            const std::int64_t width = y.shape.width();
            for (std::int64_t i = 0; i < std::ssize(y.at); ++i) {
                const double value = y.at[as_index(i)];
                const std::int64_t row = batch * all[1] + i / width;
                made.at.push_back(as_index(begin + row * all[2] + head * width + i % width));
                made.values.push_back(value);
                made.bounds.push_back(bound.at[as_index(i)] + rounding(kind.format) * std::abs(value));
            }
        };
        Arrays own;
        for (const auto& [name, x] : given) {
            const std::int64_t columns = x.shape[2] / key_heads;
            own[name] = heads_of(x, batch, key_head * columns, columns);
        }
        Graph graph;
        for (const Tensor& y : describe(graph, kind, shapes_of(own)))
            graph.output(text("y", graph.outputs().size()), y);
        const Arrays values = interpret(graph, own);
        std::vector<Array> sum;
        for (std::int64_t m = 0; m < gqa_group; ++m) {
            const auto query_head = [&](const Array& x) {
                const std::int64_t width = x.shape.width() / gqa_group;
                return heads_of(x, 0, m * width, width);
            };
            const std::vector<Array> off = bounds(kind, element, query_head(own.at("q")), own.at("k"), own.at("v"),
                                                  kind.backward ? query_head(own.at("g")) : Array{});
            expect(0, kind.backward ? q : o, key_head * gqa_group + m, query_head(values.at("y0")), off[0]);
            for (std::size_t r = 0; r < off.size(); ++r) {
                if (m == 0) sum.push_back({off[r].shape, std::vector<double>(off[r].at.size())});
                std::ranges::transform(sum[r].at, off[r].at, sum[r].at.begin(), std::plus());
            }
        }
        if (!kind.backward) continue;
        expect(q.elements(), k, key_head, values.at("y1"), sum[1]);
        expect(q.elements() + k.elements(), v, key_head, values.at("y2"), sum[2]);
    }
    return made;
}

std::unique_ptr<TuningCase> make(const AttentionProblem& kind, std::int64_t batches,
                                 std::optional<MatrixElement> element, bool sampled) {
    auto made = std::make_unique<TuningCase>();
    std::vector<Tensor> flat;
    for (const Tensor& x : describe(made->graph, kind, shapes(kind, batches)))
        flat.push_back(reshape(scale(x, 1.0f), {1, x.elements()}));
    made->graph.output("y", flat.size() == 1 ? scale(flat[0], 1.0f) : concat(flat));
    made->graph.activations = kind.format;
    made->op = kind.backward ? "attention_backward" : "attention";
    made->operands = [=] {
        const Arrays given = operands(kind, batches);
        TuningOperands tried;
        for (const auto& [name, x] : given) tried.inputs[name] = floats(x);
        tried.expected = expected(kind, element, given, sampled);
        return tried;
    };
    return made;
}

/// The problem, but no larger than a launch computes in milliseconds at the device's rough speed.
AttentionProblem timed(AttentionProblem kind, const DeviceTraits& device) {
    constexpr double seconds = 5e-3;
    constexpr std::int64_t longest = 1024, elements = 1 << 24;
    AttentionSize& size = kind.size;
    size.q_len = std::min(size.q_len, longest);
    size.kv_len = std::min(size.kv_len, longest);
    const std::int64_t width = std::max(size.head_width, size.value_width);
    const auto too_large = [&] {
        const double pairs = static_cast<double>(size.batch_heads) * static_cast<double>(size.q_len * size.kv_len);
        return 4 * pairs * static_cast<double>(width) > seconds * device.flops_per_second ||
               size.batch_heads * std::max(size.q_len, size.kv_len) * width > elements;
    };
    while (size.batch_heads > 2 && too_large()) size.batch_heads /= 2;
    while (std::max(size.q_len, size.kv_len) > 64 && too_large())
        (size.q_len > size.kv_len ? size.q_len : size.kv_len) /= 2;
    return kind;
}

}  // namespace

TuningProblem tuning_problem(const DeviceTraits& device, const AttentionProblem& kind) {
    AttentionProblem alike = kind;
    alike.size.batch_heads = rounded_up(kind.size.batch_heads);
    alike.size.q_len = rounded_up(kind.size.q_len);
    alike.size.kv_len = rounded_up(kind.size.kv_len);
    const AttentionSize& size = alike.size;
    const std::optional<MatrixElement> element = element_of(device, kind.size);
    const char* op = kind.backward ? "attention backward" : "attention";
    const auto side = [](const char* name, const std::optional<std::int64_t>& window) {
        return window ? text(name, *window) : "";
    };
    const auto number = [](const char* name, std::int64_t value, std::int64_t without) {
        return value == without ? "" : text(name, value);
    };
    const std::string mask =
        text(kind.mask.causal ? " causal" : "", kind.mask.diagonal ? " off the diagonal" : "",
             side(" window left ", kind.mask.window_left), side(" window right ", kind.mask.window_right),
             number(" dilation ", kind.mask.dilation, 1), number(" blocks of ", kind.mask.block, 1),
             number(" global first ", kind.mask.global_first, 0), number(" global last ", kind.mask.global_last, 0),
             number(" random ", kind.mask.random_blocks, 0));
    const std::string width_v = size.value_width == size.head_width ? "" : text('/', size.value_width);
    const std::string elements =
        text(size.gqa_group > 1 ? " grouped " : " ", name(kind.format), " by ", element ? to_string(*element) : "fp32");
    TuningProblem made{.kind = text(op, ' ', size.batch_heads, " of ", size.q_len, 'x', size.kv_len, 'x',
                                    size.head_width, width_v, mask, elements),
                       .family = text(op, mask, elements),
                       .candidates = attention_implementations(device, kind.size),
                       .correctness = text(op, ' ', size.head_width, width_v, mask, elements)};
    made.correctness_case = [=] {  // one workgroup's rows and a few more; whole tiles and a part
        AttentionProblem odd = alike;
        odd.size.q_len = 69;
        odd.size.kv_len = 75;
        return make(odd, 1, element, false);
    };
    made.timing_case = [=] {
        const AttentionProblem large = timed(alike, device);
        return make(large, large.size.batch_heads / query_heads, element, true);
    };
    return made;
}

std::string attention_implementation(const DeviceTraits& device, const AttentionProblem& kind) {
    const std::vector<std::string> implementations = attention_implementations(device, kind.size);
    if (implementations.size() == 1 || !device.autotuner) return implementations.front();
    return implementations[device.autotuner->choose(device, tuning_problem(device, kind))];
}

std::vector<std::string> attention_kernels() {
    std::vector<std::string> names;
    for (const char* pass : {"", "_backward_q", "_backward_kv"}) {
        for (const char* implementation : {"", "_tile", "_coopmat", "_coopmat2"})
            names.push_back(text("attention", implementation, pass));
        for (const char* detail : {"_bf16", "_subgroup"}) names.push_back(text("attention_coopmat2", pass, detail));
        names.push_back(text("attention_coopmat", pass, "_bf16"));
    }
    return names;
}

}  // namespace vkf
