#include "ops/attention_trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "graph/narrow.h"
#include "ops/arithmetic.h"
#include "ops/attention.h"
#include "ops/backward.h"
#include "ops/trial.h"
#include "ops/view.h"

namespace vkf {

namespace {

constexpr double step = 0x1p-24;  // fp32's rounding

/// A tensor of heads, and by how much each element of a result may be off.
struct Heads {
    std::int64_t batches, length, heads, width;
    std::vector<double> at, off;

    Heads(std::int64_t B, std::int64_t T, std::int64_t M, std::int64_t D)
        : batches(B), length(T), heads(M), width(D), at(static_cast<std::size_t>(B * T * M * D)), off(at.size()) {}

    Shape shape() const { return {batches, length, heads * width}; }
    std::size_t row(std::int64_t b, std::int64_t i, std::int64_t m) const {
        return static_cast<std::size_t>(((b * length + i) * heads + m) * width);
    }
    std::vector<float> floats() const { return {at.begin(), at.end()}; }
};

double dot(const Heads& a, std::size_t at_a, const Heads& b, std::size_t at_b) {
    double sum = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(a.width); ++c) sum += a.at[at_a + c] * b.at[at_b + c];
    return sum;
}

/// What cooperative matrices round to, if they are among the candidates.
std::optional<MatrixElement> element_of(const DeviceTraits& device, const AttentionSize& size) {
    const bool matrices = std::ranges::any_of(attention_ways(device, size),
                                              [](const std::string& way) { return way.starts_with("coopmat"); });
    return matrices ? std::optional(device.matrices->element) : std::nullopt;
}

/// Σ |a b|
double magnitude(const Heads& a, std::size_t at_a, const Heads& b, std::size_t at_b) {
    double sum = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(a.width); ++c)
        sum += std::abs(a.at[at_a + c] * b.at[at_b + c]);
    return sum;
}

/// Attention of a kind on operands of 5 bits, which all formats hold and whose products fp32 adds up exactly. What a
/// kernel may still miss follows from the rounding of queries that carry the logits' scale, of probabilities and of
/// logits' gradients, to 16 bits by matrices, of results as they are kept, and of fp32 arithmetic.
class AttentionTrial {
public:
    /// With `sampled` only the last key head is looked at.
    AttentionTrial(const AttentionKind& of, std::int64_t batches, std::optional<MatrixElement> element, bool sampled)
        : of_(of),
          sampled_(sampled),
          rounding_(element ? rounding(*element) : 0.0),
          tiny_(element == MatrixElement::fp16 ? 0x1p-25 : 0.0),
          q_(batches, of.size.q_len, heads, of.size.head_width),
          k_(batches, of.size.kv_len, key_heads(), of.size.head_width),
          v_(k_),
          g_(q_) {
        Random random(1, "operands of attention");
        draw(random, q_, 8);  // so that some keys count for much more than others
        for (Heads* x : {&k_, &v_, &g_}) draw(random, *x, 32);
    }

    void describe(Trial& trial) const {
        Graph& graph = trial.graph;
        const auto operand = [&](const char* name, const Heads& x) {
            trial.inputs[name] = x.floats();
            // Copied, so that it may be packed, and lies among what must not be touched.
            return scale(graph.input(name, {DType::f32, x.shape()}), 1.0f);
        };
        const std::array qkv{operand("q", q_), operand("k", k_), operand("v", v_)};
        const AttentionOptions options{
            .heads = heads, .kv_heads = key_heads(), .mask = {.causal = of_.causal, .diagonal = of_.mask_diagonal}};
        const Tensor o = attention(qkv[0], qkv[1], qkv[2], options);
        std::vector<Tensor> results{o};
        if (of_.backward) {
            const Tensor g = operand("g", g_);
            results = gradients(std::span(&o, 1), std::span(&g, 1), qkv);
        }
        std::vector<Tensor> flat;
        for (const Tensor& x : results) flat.push_back(reshape(scale(x, 1.0f), {1, x.elements()}));
        graph.output("y", flat.size() == 1 ? scale(flat[0], 1.0f) : concat(flat));
        narrow(graph, of_.format);
        trial.op = of_.backward ? "attention_backward" : "attention";
        for (std::int64_t i = 0; i < q_.length; ++i)
            trial.flops += (of_.backward ? 14.0 : 4.0) * static_cast<double>(q_.batches * heads * q_.width) *
                           static_cast<double>(std::clamp<std::int64_t>(last_key(i) + 1, 0, k_.length));
    }

    std::string fault(std::span<const float> y) const {
        std::vector<Heads> wanted;
        if (of_.backward)
            wanted = {Heads(q_), Heads(k_), Heads(v_)};
        else
            wanted = {Heads(q_)};
        for (Heads& x : wanted) {
            std::ranges::fill(x.at, 0.0);
            std::ranges::fill(x.off, INFINITY);
        }
        for (std::int64_t b = sampled_ ? q_.batches - 1 : 0; b < q_.batches; ++b)
            for (std::int64_t n = sampled_ ? key_heads() - 1 : 0; n < key_heads(); ++n) expect(b, n, wanted);
        std::size_t first = 0;
        for (std::size_t part = 0; part < wanted.size(); first += wanted[part++].at.size())
            for (std::size_t i = 0; i < wanted[part].at.size(); ++i) {
                const auto found = static_cast<double>(y[first + i]);
                const double limit = wanted[part].off[i] + rounding(of_.format) * std::abs(wanted[part].at[i]);
                if (std::abs(found - wanted[part].at[i]) <= limit) continue;  // false of NaN
                const char* names[] = {"dq", "dk", "dv"};
                return text("element ", i, " of ", of_.backward ? names[part] : "o", ' ', wanted[part].shape(), " is ",
                            found, ", wanted ", wanted[part].at[i], " to within ", limit);
            }
        return {};
    }

private:
    static constexpr std::int64_t heads = 2;

    std::int64_t key_heads() const { return of_.shared ? 1 : heads; }
    std::int64_t last_key(std::int64_t i) const { return of_.causal ? i + k_.length - q_.length : k_.length - 1; }
    bool visible(std::int64_t i, std::int64_t j) const {
        return j <= last_key(i) && !(of_.mask_diagonal && j == i + k_.length - q_.length);
    }

    static void draw(Random& random, Heads& x, double divisor) {
        for (double& number : x.at) {
            const std::uint32_t bits = random.bits();
            number = static_cast<double>(16 + (bits >> 28)) / divisor * (bits % 2 == 0 ? 1 : -1);
        }
    }

    /// What belongs to a key head, of o, or of dq, dk and dv.
    void expect(std::int64_t b, std::int64_t n, std::vector<Heads>& wanted) const {
        for (Heads& x : wanted) {
            const std::int64_t share = x.heads / key_heads();
            for (std::int64_t i = 0; i < x.length; ++i) {
                const std::size_t at = x.row(b, i, n * share);
                std::fill_n(x.off.begin() + static_cast<std::ptrdiff_t>(at), share * x.width, 0.0);
            }
        }
        const std::int64_t share = heads / key_heads();
        for (std::int64_t m = n * share; m < (n + 1) * share; ++m)
            for (std::int64_t i = 0; i < q_.length; ++i) expect_row(b, m, n, i, wanted);
    }

    /// A query's share. A logit is off by what fp32 rounds of the scaled query, of products and of their sum; p by a
    /// relative `loss`, which is twice that and all other rounding; o by what p is; delta = <g, o> by what o is; ds = p
    /// (<g, v> - delta) by what p and delta are.
    void expect_row(std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t i, std::vector<Heads>& wanted) const {
        const auto width = static_cast<std::size_t>(q_.width);
        const std::size_t at_q = q_.row(b, i, m);
        const double scale = AttentionOptions{}.scale_for(q_.width);
        std::vector<double> p(static_cast<std::size_t>(k_.length), 0.0);
        double top = -INFINITY, largest = 0, terms = 0, sum = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
            if (!visible(i, static_cast<std::int64_t>(j))) continue;
            const std::size_t at_k = k_.row(b, static_cast<std::int64_t>(j), n);
            p[j] = scale * dot(q_, at_q, k_, at_k);
            terms = std::max(terms, scale * magnitude(q_, at_q, k_, at_k));
            top = std::max(top, p[j]);
            largest = std::max(largest, std::abs(p[j]));
        }
        for (std::size_t j = 0; j < p.size(); ++j)
            sum += p[j] = visible(i, static_cast<std::int64_t>(j)) ? std::exp(p[j] - top) : 0.0;
        if (sum == 0) return;
        const double sums = step * static_cast<double>(std::max(k_.length, heads * q_.length) + 8);
        const double logits = step * static_cast<double>(width + 4) * terms;
        const double arithmetic = 2 * logits + step * (8 * largest + 64) + sums;
        const double loss = (1 + arithmetic) * (1 + rounding_) - 1;

        std::vector<double> o(width), off_o(width);
        for (std::size_t j = 0; j < p.size(); ++j) {
            p[j] /= sum;
            if (p[j] == 0) continue;
            const std::size_t at_v = v_.row(b, static_cast<std::int64_t>(j), n);
            for (std::size_t c = 0; c < width; ++c) {
                o[c] += p[j] * v_.at[at_v + c];
                off_o[c] += (p[j] * loss + tiny_) * std::abs(v_.at[at_v + c]);
            }
        }
        if (!of_.backward) {
            std::ranges::copy(o, wanted[0].at.begin() + static_cast<std::ptrdiff_t>(at_q));
            std::ranges::copy(off_o, wanted[0].off.begin() + static_cast<std::ptrdiff_t>(at_q));
            return;
        }
        double delta = 0, off_delta = 0;
        for (std::size_t c = 0; c < width; ++c) {
            const double g = g_.at[at_q + c];
            delta += g * o[c];
            off_delta += std::abs(g) * (off_o[c] + (rounding(of_.format) + sums) * std::abs(o[c]));
        }
        for (std::size_t j = 0; j < p.size(); ++j) {
            if (p[j] == 0) continue;
            const std::size_t at = k_.row(b, static_cast<std::int64_t>(j), n);
            const double slope = dot(g_, at_q, v_, at), ds = p[j] * (slope - delta);
            const double off_p = p[j] * loss + tiny_;
            const double off_ds = loss * std::abs(ds) + tiny_ +
                                  (1 + loss) * p[j] * (off_delta + 4 * step * (std::abs(slope) + std::abs(delta)));
            for (std::size_t c = 0; c < width; ++c) {
                const auto add = [](Heads& x, std::size_t place, double value, double off) {
                    x.at[place] += value;
                    x.off[place] += off;
                };
                add(wanted[0], at_q + c, scale * ds * k_.at[at + c], scale * off_ds * std::abs(k_.at[at + c]));
                add(wanted[1], at + c, scale * ds * q_.at[at_q + c], scale * off_ds * std::abs(q_.at[at_q + c]));
                add(wanted[2], at + c, p[j] * g_.at[at_q + c], off_p * std::abs(g_.at[at_q + c]));
            }
        }
    }

    AttentionKind of_;
    bool sampled_;
    double rounding_, tiny_;
    Heads q_, k_, v_, g_;
};

std::string describe(const AttentionKind& of, std::optional<MatrixElement> element) {
    const AttentionSize& size = of.size;
    return text("attention", of.backward ? " backward " : " ", size.batch_heads, " of ", size.q_len, 'x', size.kv_len,
                'x', size.head_width, size.value_width == size.head_width ? "" : text('/', size.value_width),
                size.windows_or_lengths ? " windows or lengths" : "", of.causal ? " causal" : "",
                of.mask_diagonal ? " off the diagonal" : "", of.shared ? " grouped " : " ", name(of.format), " by ",
                element ? to_string(*element) : "fp32");
}

/// As large as the kind, but so small that a launch takes milliseconds by the device's rough speed.
AttentionKind bounded(AttentionKind of, const DeviceTraits& device) {
    constexpr double seconds = 5e-3;
    constexpr std::int64_t longest = 1024, elements = 1 << 24;
    AttentionSize& size = of.size;
    size.q_len = std::min(size.q_len, longest);
    size.kv_len = std::min(size.kv_len, longest);
    const auto too_large = [&] {
        const double pairs = static_cast<double>(size.batch_heads) * static_cast<double>(size.q_len * size.kv_len);
        return 4 * pairs * static_cast<double>(size.head_width) > seconds * device.flops_per_second ||
               size.batch_heads * std::max(size.q_len, size.kv_len) * size.head_width > elements;
    };
    while (size.batch_heads > 2 && too_large()) size.batch_heads /= 2;
    while (std::max(size.q_len, size.kv_len) > 64 && too_large())
        (size.q_len > size.kv_len ? size.q_len : size.kv_len) /= 2;
    return of;
}

}  // namespace

Question question(const DeviceTraits& device, const AttentionKind& of) {
    AttentionKind kind = of;
    kind.size.batch_heads = rounded_up(of.size.batch_heads);
    kind.size.q_len = rounded_up(of.size.q_len);
    kind.size.kv_len = rounded_up(of.size.kv_len);
    const std::optional<MatrixElement> element = element_of(device, of.size);
    const auto make = [element](const AttentionKind& at, std::int64_t batches, bool sampled) {
        auto trial = std::make_unique<Trial>();
        const auto one = std::make_shared<const AttentionTrial>(at, batches, element, sampled);
        one->describe(*trial);
        trial->fault = [one](std::span<const float> y) { return one->fault(y); };
        return trial;
    };
    Question made{.kind = describe(kind, element), .candidates = attention_ways(device, of.size)};
    made.awkward = [=] {  // a workgroup of rows and a few more, tiles and a part of one
        AttentionKind odd = kind;
        odd.size.q_len = 69;
        odd.size.kv_len = 75;
        return make(odd, 1, false);
    };
    made.typical = [=] {
        const AttentionKind large = bounded(kind, device);
        return make(large, large.size.batch_heads / 2, true);
    };
    return made;
}

std::string attention_way(const DeviceTraits& device, const AttentionKind& of) {
    const std::vector<std::string> ways = attention_ways(device, of.size);
    if (ways.size() == 1 || !device.chooser) return ways.front();
    return ways[device.chooser->choose(device, question(device, of))];
}

}  // namespace vkf
