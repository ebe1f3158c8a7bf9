#include "checks/attention/rounded_attention.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace {

constexpr std::int64_t SEED_BOUND = std::int64_t{1} << 31;

/// Rows of heads. If the case has lengths, only the first `counted(b)` rows of batch row b hold numbers, the others
/// NaN.
template <class Counted>
Operand rows_of(const RoundedAttention& c, std::int64_t count, std::int64_t width, double spread,
                const Counted& counted) {
    Operand made = normal({c.batch, count, width}, spread);
    made.padding = c.padding;
    if (c.query_lengths.empty() && c.key_lengths.empty()) return made;
    for (std::int64_t i = 0; i < made.type.shape.elements(); ++i) {
        const bool counts = i / width % count < counted(i / width / count);
        const double value = spread * 1.4 * std::sin(static_cast<double>(i * (count + width)));
        made.values.push_back(counts ? static_cast<double>(static_cast<float>(value)) : std::nan(""));
    }
    return made;
}

/// A tensor of heads as a kernel reads it, and the error of each element when it is rounded to 16 bits.
struct Heads {
    std::int64_t batches, length, heads, width, pitch;
    std::vector<double> at, lost;

    Heads(const Array& from, std::int64_t heads_, std::int64_t width_, MatrixElement element)
        : batches(from.shape[0]),
          length(from.shape[1]),
          heads(heads_),
          width(width_),
          pitch(from.shape.width()),
          at(from.at) {
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
    std::size_t dense(std::int64_t b, std::int64_t i, std::int64_t head) const {
        return static_cast<std::size_t>(((b * length + i) * heads + head) * width);
    }
    double size(std::size_t i) const { return std::abs(at[i]); }
    double most(std::size_t i) const { return size(i) + lost[i]; }
};

/// <a, b> of two rows, and the largest error of a kernel: that of rounded factors, and that of an fp32 sum, which is
/// 2^-24 of all magnitudes per term.
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

}  // namespace

OpCase op_case(const RoundedAttention& c) {
    const auto queries = [&](std::int64_t b) { return c.mask(b).queries; };
    const auto keys = [&](std::int64_t b) { return c.mask(b).keys; };
    const auto lengths = [](const std::vector<double>& values) {
        Operand made = integers({std::max<std::int64_t>(1, std::ssize(values))}, 0, 1);
        made.values = values;
        return made;
    };
    AttentionOptions options = c.options;
    options.heads = c.heads;
    options.kv_heads = c.kv_heads;
    return {
        c.name,
        {rows_of(c, c.queries, c.heads * c.width, c.spread, queries),
         rows_of(c, c.keys, c.kv_heads * c.width, 1.0, keys), rows_of(c, c.keys, c.kv_heads * c.value_width, 1.0, keys),
         integers({2}, -SEED_BOUND, SEED_BOUND), lengths(c.query_lengths), lengths(c.key_lengths)},
        [c, options](Inputs x) {
            AttentionOptions chosen = options;
            if (options.dropout > 0) chosen.seed = x[3];
            if (!c.query_lengths.empty()) chosen.mask.query_lengths = x[4];
            if (!c.key_lengths.empty()) chosen.mask.key_lengths = x[5];
            std::vector made{attention(x[0], x[1], x[2], chosen)};
            if (c.values_twice) made.push_back(scale(x[2], 2.0f));
            return made;
        }};
}

/// Largest error of each output against the interpreter's, from the same operands; to first order in the errors below.
///   s   is off by at most E = scale · Dot::off in a row; hence p, and the p that backward recomputes, by a factor
///       e^(2 E): numerator and denominator, or s and lse.
///   p   and ds are rounded: by u = 2^-11 or 2^-8 of themselves, in fp16 below 2^-14 by 2^-25; a device may round
///       numbers below 2^-126 to 0. The value of p below 2^-100 also depends on the device (lib/exponential.glsl).
///   o   = Σ p v is off by the errors of p and v.
///   ds  = p (<g, v> - delta), with delta = <g, o> and the o of the line above.
/// Errors of fp32 arithmetic are 2^-24 per term of a sum and per step of a few dozen; an exponential's also per unit of
/// its exponent. Dropout has its largest factor, and all terms are taken as positive.
Arrays bounds_of(const RoundedAttention& c, const BoundedRun& run) {
    const Heads q(run.leaves.at("x0"), c.heads, c.width, run.element);
    const Heads k(run.leaves.at("x1"), c.kv_heads, c.width, run.element);
    const Heads v(run.leaves.at("x2"), c.kv_heads, c.value_width, run.element);
    const Heads g(run.leaves.at("w0"), c.heads, c.value_width, run.element);
    const bool fp16 = run.element == MatrixElement::fp16;
    const double u = std::ldexp(1.0, fp16 ? -11 : -8), tiny = std::ldexp(1.0, fp16 ? -25 : -126);
    const double faint = std::ldexp(1.0, -100);
    const double step = std::ldexp(1.0, -24), keep = 1 / (1 - static_cast<double>(c.options.dropout));
    const double scale = c.options.scale_for(c.width);
    const auto signless = [&](double x) { return c.options.dropout > 0 ? std::abs(x) : x; };
    const auto width = static_cast<std::size_t>(c.width), value_width = static_cast<std::size_t>(c.value_width);
    const double sums = step * static_cast<double>(std::max(c.keys, c.queries * c.heads) + 8);

    const auto zeros = [](const Heads& x) {
        const Shape shape{x.batches, x.length, x.heads * x.width};
        return Array{shape, std::vector<double>(static_cast<std::size_t>(shape.elements()))};
    };
    Array off_o = zeros(g), off_q = zeros(q), off_k = zeros(k), off_v = zeros(v);

    for (std::int64_t b = 0; b < c.batch; ++b) {
        const MaskRow mask = c.mask(b);
        for (std::int64_t m = 0; m < c.heads; ++m)
            for (std::int64_t i = 0; i < c.queries; ++i) {
                const std::int64_t kv = m * c.kv_heads / c.heads;
                const std::size_t at_q = q.row(b, i, m), at_g = g.row(b, i, m);
                struct Visible {
                    std::int64_t j;
                    double p;
                };
                std::vector<Visible> pairs;
                double top = -INFINITY, largest = 0, most_off = 0, sum = 0;
                for (std::int64_t j = 0; j < mask.keys; ++j) {
                    if (!mask.visible(i, j)) continue;
                    const Dot s(q, at_q, k, k.row(b, j, kv));
                    pairs.push_back({j, scale * s.value});
                    top = std::max(top, scale * s.value);
                    largest = std::max(largest, std::abs(scale * s.value));
                    most_off = std::max(most_off, scale * s.off);
                }
                for (Visible& pair : pairs) sum += pair.p = std::exp(pair.p - top);
                const double exponentials = step * (8 * largest + 64) + sums;
                const double off_p = std::expm1(2 * most_off) + exponentials;  // relative

                const std::size_t out_o = g.dense(b, i, m), out_q = q.dense(b, i, m);
                std::vector<double> o(value_width);
                for (Visible& pair : pairs) {
                    pair.p /= sum;
                    const std::size_t at_v = v.row(b, pair.j, kv);
                    const double weight = pair.p * keep, most = (weight * (1 + off_p) + faint) * (1 + u) + tiny;
                    for (std::size_t d = 0; d < value_width; ++d) {
                        o[d] += weight * signless(v.at[at_v + d]);
                        off_o.at[out_o + d] += (1 + sums) * most * v.most(at_v + d) - weight * v.size(at_v + d);
                    }
                }
                double delta = 0, off_delta = 0;
                for (std::size_t d = 0; d < value_width; ++d) {
                    delta += signless(g.at[at_g + d]) * o[d];
                    off_delta += g.size(at_g + d) * (off_o.at[out_o + d] + (run.packed + sums) * std::abs(o[d]));
                }
                for (const Visible& pair : pairs) {
                    const std::size_t at_k = k.row(b, pair.j, kv), out_k = k.dense(b, pair.j, kv);
                    const std::size_t out_v = v.dense(b, pair.j, kv);
                    const Dot up(g, at_g, v, v.row(b, pair.j, kv));
                    const double slope = keep * signless(up.value);
                    const double difference = std::abs(slope - delta) + (c.options.dropout > 0 ? 2 * delta : 0);
                    const double ds = pair.p * difference;
                    const double off_ds =
                        off_p * ds + faint * difference +
                        (pair.p * (1 + off_p) + faint) *
                            (keep * up.off + off_delta + 4 * step * (std::abs(slope) + std::abs(delta)));
                    const double most_ds = (ds + off_ds) * (1 + u) + tiny;
                    const double weight = pair.p * keep, most = (weight * (1 + off_p) + faint) * (1 + u) + tiny;
                    for (std::size_t d = 0; d < width; ++d) {
                        off_q.at[out_q + d] +=
                            scale * ((1 + sums) * most_ds * k.most(at_k + d) - ds * k.size(at_k + d));
                        off_k.at[out_k + d] +=
                            scale * ((1 + sums) * most_ds * q.most(at_q + d) - ds * q.size(at_q + d));
                    }
                    for (std::size_t d = 0; d < value_width; ++d)
                        off_v.at[out_v + d] += (1 + sums) * most * g.most(at_g + d) - weight * g.size(at_g + d);
                }
            }
    }
    Arrays off{{"y0", off_o}, {"d_x0", off_q}, {"d_x1", off_k}, {"d_x2", off_v}};
    if (c.values_twice) {
        off["y1"] = zeros(v);
        for (std::size_t i = 0; i < off_v.at.size(); ++i)
            off["d_x2"].at[i] += step * (off_v.at[i] + std::abs(run.wanted.at("d_x2").at[i]));
    }
    for (auto& [name, array] : off)
        for (std::size_t i = 0; i < array.at.size(); ++i)
            array.at[i] += run.packed * (array.at[i] + std::abs(run.wanted.at(name).at[i])) + run.packed_least;
    return off;
}

}  // namespace vkf::checks
