// softmax(scale · q kᵀ) v without storing the probabilities, and its derivative, which makes them again.
#include "ops/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "ops/arithmetic.h"
#include "ops/attention_tuning.h"
#include "ops/vector_layout.h"
#include "ops/view.h"

namespace vkf {

namespace {

enum Operand : std::size_t { query, key, value, seed, query_lengths, key_lengths };

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Letters as in ops/attention.h.
struct Extents {
    std::int64_t B, T, S, M, N, D, D_V;

    Extents(const AttentionOptions& options, const Shape& q, const Shape& k, const Shape& v)
        : B(q[0]),
          T(q[1]),
          S(k[1]),
          M(options.heads),
          N(options.value_heads()),
          D(q[2] / options.heads),
          D_V(v[2] / options.value_heads()) {}

    std::int64_t gqa_group() const { return M / N; }
    /// Where head m of position i begins in a dense [B, length, heads·width].
    static std::size_t at(std::int64_t b, std::int64_t i, std::int64_t m, std::int64_t length, std::int64_t heads,
                          std::int64_t width) {
        return index(((b * length + i) * heads + m) * width);
    }
    std::size_t q_at(std::int64_t b, std::int64_t i, std::int64_t m) const { return at(b, i, m, T, M, D); }
    std::size_t o_at(std::int64_t b, std::int64_t i, std::int64_t m) const { return at(b, i, m, T, M, D_V); }
    std::size_t k_at(std::int64_t b, std::int64_t j, std::int64_t m) const {
        return at(b, j, m / gqa_group(), S, N, D);
    }
    std::size_t v_at(std::int64_t b, std::int64_t j, std::int64_t m) const {
        return at(b, j, m / gqa_group(), S, N, D_V);
    }
    template <class Visit>
    void each_row(const Visit& visit) const {
        for (std::int64_t b = 0; b < B; ++b)
            for (std::int64_t m = 0; m < M; ++m)
                for (std::int64_t i = 0; i < T; ++i) visit(b, m, i);
    }
    AttentionSize size() const {
        return {.batch_heads = B * M, .q_len = T, .kv_len = S, .head_width = D, .value_width = D_V, .gqa_group = M / N};
    }
};

double dot(const double* a, const double* b, std::int64_t count) {
    double sum = 0;
    for (std::int64_t d = 0; d < count; ++d) sum += a[d] * b[d];
    return sum;
}

/// The words of shaders/lib/attention_mask.glsl that dropout's bits for a pair come from.
class DropoutMask {
public:
    DropoutMask(const AttentionOptions& options, const Array& seed) : rate_(options.dropout), salt_(options.salt) {
        for (std::size_t i = 0; i < 2 && rate_ > 0.0f; ++i)
            key_[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(seed.at[i]));
    }

    double factor(std::int64_t batch_head, std::int64_t i, std::int64_t j) const {
        if (rate_ == 0.0f) return 1.0;
        std::uint32_t x = word(batch_head, i, 1) + word(batch_head, j, 2);
        x = (x ^ (x >> 16)) * 0x7feb352du;
        x = (x ^ (x >> 15)) * 0x846ca68bu;
        x ^= x >> 16;
        return unit_float(x) >= rate_ ? 1.0 / (1.0 - static_cast<double>(rate_)) : 0.0;
    }

private:
    std::uint32_t word(std::int64_t batch_head, std::int64_t position, std::uint32_t side) const {
        return philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(batch_head), salt_, side},
                      key_)[0];
    }

    float rate_;
    std::uint32_t salt_;
    std::array<std::uint32_t, 2> key_{};
};

/// A query's probabilities of all S keys, and the logarithm of their common divisor in base 2: +inf and zeros if it
/// sees no key.
struct Row {
    std::vector<double> p;
    double lse = INFINITY;

    Row(const AttentionOptions& options, const Extents& e, std::span<const Array> in, std::int64_t b, std::int64_t m,
        std::int64_t i)
        : p(index(e.S), 0.0) {
        const MaskRow mask = options.mask.row(e.T, e.S, b, in[query_lengths].at, in[key_lengths].at);
        const double scale = options.scale_for(e.D);
        double top = -INFINITY, sum = 0;
        for (std::int64_t j = 0; j < e.S; ++j) {
            p[index(j)] = mask.visible(i, j)
                              ? scale * dot(&in[query].at[e.q_at(b, i, m)], &in[key].at[e.k_at(b, j, m)], e.D)
                              : -INFINITY;
            top = std::max(top, p[index(j)]);
        }
        for (double& s : p) sum += s = s > -INFINITY ? std::exp(s - top) : 0.0;
        if (sum == 0) return;
        lse = (top + std::log(sum)) / std::numbers::ln2;
        for (double& s : p) s /= sum;
    }
};

/// Pairs of query and key that kernels look at, as far as the host knows: lengths may be less.
double pairs(const AttentionOptions& options, const Extents& e) {
    return static_cast<double>(e.B * e.M) * options.mask.row(e.T, e.S).pairs();
}

/// Which kernels compute a forward pass, or a whole derivative. Lengths are not known here, so what is fastest
/// without them is taken for fastest with them.
std::string implementation_of(const DeviceTraits& device, const AttentionOptions& options, const Extents& e,
                              std::span<const Tensor> in, bool backward) {
    AttentionMask mask = options.mask;
    mask.query_lengths = mask.key_lengths = {};
    return attention_implementation(
        device, {.size = e.size(), .mask = mask, .format = in[query].format(), .backward = backward});
}

ArgValue optional(Tensor tensor) {
    return tensor ? ArgValue{tensor} : ArgValue{};
}

/// For q, k, v and whatever has their shape; in 16 bits, heads must be made of whole pairs.
KernelTraits traits_of_heads(const AttentionOptions& options, std::span<const Tensor> at, std::uint32_t in,
                             std::uint32_t out) {
    const bool even = at[query].width() / options.heads % 2 == 0 && at[value].width() / options.value_heads() % 2 == 0;
    if (!even) return {};
    return {.half_in = in, .half_out = out, .uniform = true, .lower_precision = true};
}

/// What the three kernels have in common.
Dispatch attention_dispatch(const AttentionTile& tile, const AttentionOptions& options, const Extents& e,
                            std::span<const Tensor> in) {
    const Tensor q = in[query], k = in[key], v = in[value];
    for (const Tensor& x : {q, k, v}) extent(x.rows() * x.pitch());  // kernels count elements in 32 bits
    extent(e.B * e.T * e.M * e.D_V);
    const bool aligned = e.D % 2 == 0 && e.D_V % 2 == 0 && even(q) && even(k) && even(v);
    Dispatch made{.kernel = tile.kernel, .constants = tile.constants, .groups = tile.groups};
    made.constants.insert(made.constants.end(), {{"D", extent(e.D)},
                                                 {"D_V", extent(e.D_V)},
                                                 {"HEADS", extent(e.M)},
                                                 {"GQA_GROUP", extent(e.gqa_group())},
                                                 {"LAYOUT", vector_layout(q, aligned)},
                                                 {"DROPOUT", options.dropout > 0.0f}});
    Table optional_inputs{{{"seed", std::vector{in[seed]}}}};
    options.mask.append_windows(made, e.T, e.S);
    options.mask.append_lengths(made, optional_inputs, in[query_lengths], in[key_lengths]);
    made.args = {{"q", q},
                 {"k", k},
                 {"v", v},
                 {"optional", std::move(optional_inputs)},
                 {"batches", extent(e.B)},
                 {"queries", extent(e.T)},
                 {"keys", extent(e.S)},
                 {"q_pitch", extent(q.pitch())},
                 {"k_pitch", extent(k.pitch())},
                 {"v_pitch", extent(v.pitch())},
                 {"scale", static_cast<float>(options.scale_for(e.D))},
                 {"drop", options.dropout},
                 {"salt", options.salt}};
    return made;
}

/// Matrices of a workgroup are loaded faster where rows in 16 bits start at multiples of 16 bytes.
void align(Dispatch& made, const Extents& e, std::initializer_list<Tensor> tensors) {
    if (!made.kernel.starts_with("attention_coopmat2")) return;
    const bool aligned =
        e.D % 8 == 0 && e.D_V % 8 == 0 && std::ranges::all_of(tensors, [](Tensor x) { return in_eights(x); });
    made.constants.emplace_back("ALIGNED", aligned);
}

/// d_q, d_k and d_v from (q, k, v, seed, query lengths, key lengths, o, lse, d_o), and what is to be added to d_v.
class AttentionBackwardOp : public Op {
public:
    explicit AttentionBackwardOp(const AttentionOptions& options) : options_(options) {}

    std::string_view name() const override { return "attention_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[d_o] == in[o], "d_o is ", in[d_o], ", wanted ", in[o]);
        return {in[query], in[key], in[value]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Extents e(options_, in[query].shape, in[key].shape, in[value].shape);
        const DropoutMask dropout(options_, in[seed]);
        const double scale = options_.scale_for(e.D);
        e.each_row([&](std::int64_t b, std::int64_t m, std::int64_t i) {
            const Row row(options_, e, in, b, m, i);
            const std::size_t at_q = e.q_at(b, i, m);
            const double* g = &in[d_o].at[e.o_at(b, i, m)];
            const double delta = dot(g, &in[o].at[e.o_at(b, i, m)], e.D_V);
            for (std::int64_t j = 0; j < e.S; ++j) {
                const double p = row.p[index(j)];
                if (p == 0) continue;
                const double kept = dropout.factor(b * e.M + m, i, j);
                const std::size_t at_k = e.k_at(b, j, m), at_v = e.v_at(b, j, m);
                const double d_s = scale * p * (kept * dot(g, &in[value].at[at_v], e.D_V) - delta);
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
        const Extents e(options_, to.in[query].shape(), to.in[key].shape(), to.in[value].shape());
        const Scratch delta = to.scratch(e.B * e.M * e.T);
        const double flops = 2.0 * pairs(options_, e);  // for each column
        const auto bytes = [](std::initializer_list<Tensor> tensors) {
            double sum = 0;
            for (const Tensor& tensor : tensors) sum += 4.0 * static_cast<double>(tensor.elements());
            return sum;
        };
        const Tensor q = to.in[query], k = to.in[key], v = to.in[value];
        const Tensor addend = to.in[more];
        const std::string implementation = implementation_of(to.device, options_, e, to.in, true);
        const auto add = [&](Dispatch& made, Args own) {
            made.args.insert(made.args.end(), {{"lse", to.in[lse]}, {"g", to.in[d_o]}, {"delta", delta}});
            made.args.insert(made.args.end(), own.begin(), own.end());
            to.dispatch(std::move(made));
        };
        Dispatch queries = attention_dispatch(
            attention_tile(to.device, implementation, AttentionPass::query_gradient, e.size()), options_, e, to.in);
        queries.flops = flops * static_cast<double>(2 * e.D + e.D_V);
        queries.bytes = bytes({q, k, v, to.in[o], to.in[d_o], q});
        align(queries, e, {q, k, v, to.in[d_o], to.out[0]});
        add(queries, {{"o", to.in[o]}, {"dq", to.out[0]}, {"dq_pitch", extent(to.out[0].pitch())}});
        Dispatch keys = attention_dispatch(
            attention_tile(to.device, implementation, AttentionPass::key_gradient, e.size()), options_, e, to.in);
        keys.flops = flops * static_cast<double>(2 * e.D + 2 * e.D_V);
        keys.bytes = bytes({q, k, v, to.in[d_o], k, v}) + (addend ? bytes({v}) : 0.0);
        keys.constants.emplace_back("ADDEND", static_cast<bool>(addend));
        align(keys, e, {q, k, v, to.in[d_o], to.out[1], to.out[2]});
        add(keys, {{"dk", to.out[1]},
                   {"dv", to.out[2]},
                   {"dk_pitch", extent(to.out[1].pitch())},
                   {"dv_pitch", extent(to.out[2].pitch())},
                   {"addend", optional(addend)}});
    }

    KernelTraits kernel_traits(std::span<const Tensor> at) const override {
        KernelTraits made = traits_of_heads(options_, at, 0b111 | 1u << o | 1u << d_o | 1u << more, 0b111);
        made.strided_outputs = 0b111;
        made.epilogue_add = {.output = 2, .addend = more};
        return made;
    }
    bool may_alias(std::size_t output, std::size_t input) const override { return output == 2 && input == more; }

private:
    enum Saved : std::size_t { o = 6, lse, d_o, more };

    AttentionOptions options_;
};

/// o and the log-sum-exp of each row in base 2, [B, M, T], from (q, k, v, seed, query lengths, key lengths), all but
/// the first three absent where not used.
class AttentionOp : public Op {
public:
    explicit AttentionOp(const AttentionOptions& options) : options_(options) {}

    std::string_view name() const override { return "attention"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &q = in[query].shape, &k = in[key].shape;
        for (const std::size_t i : {query, key, value})
            require(in[i].dtype == DType::f32 && in[i].shape.rank() == 3 && in[i].shape.elements() > 0,
                    "wants f32[B, T, heads * D], not ", in[i]);
        const Shape& v = in[value].shape;
        require(q[0] == k[0], "queries are ", q, ", keys ", k, ": their batches differ");
        require(k[0] == v[0] && k[1] == v[1], "keys are ", k, ", values ", v, ": wanted a value for each key");
        const std::int64_t heads = options_.heads, kv_heads = options_.value_heads();
        require(heads > 0 && q[2] % heads == 0, "queries are ", q, ": no ", heads, " heads of one width");
        require(kv_heads > 0 && heads % kv_heads == 0, heads, " query heads cannot share ", kv_heads, " key heads");
        require(k[2] * heads == q[2] * kv_heads, "keys are ", k, ", wanted ", kv_heads, " heads of width ",
                q[2] / heads);
        require(v[2] % kv_heads == 0, "values are ", v, ": no ", kv_heads, " heads of one width");
        for (const std::int64_t width : {q[2] / heads, v[2] / kv_heads})
            require(width <= widest, "the heads are ", width, " wide, at most ", widest, " is possible");
        require(std::isfinite(options_.scale), "scale is ", options_.scale);
        require(options_.dropout >= 0.0f && options_.dropout < 1.0f, "drops with probability ", options_.dropout,
                ", wanted [0, 1)");
        require(options_.dropout == 0.0f || in[seed] == TensorType{DType::i32, {2}}, "the seed is ", in[seed],
                ", wanted i32[2]");
        options_.mask.check(q[0], in[query_lengths], in[key_lengths]);
        return {{DType::f32, {q[0], q[1], v[2] / kv_heads * heads}}, {DType::f32, {q[0], heads, q[1]}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Extents e(options_, in[query].shape, in[key].shape, in[value].shape);
        const DropoutMask dropout(options_, in[seed]);
        e.each_row([&](std::int64_t b, std::int64_t m, std::int64_t i) {
            const Row row(options_, e, in, b, m, i);
            out[1].at[index((b * e.M + m) * e.T + i)] = row.lse;
            for (std::int64_t j = 0; j < e.S; ++j) {
                if (row.p[index(j)] == 0) continue;
                const double p = row.p[index(j)] * dropout.factor(b * e.M + m, i, j);
                for (std::size_t c = 0; c < index(e.D_V); ++c)
                    out[0].at[e.o_at(b, i, m) + c] += p * in[value].at[e.v_at(b, j, m) + c];
            }
        });
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.d_out[1], "the log-sum-exp of attention has no derivative");
        std::vector<Tensor> in(at.in.begin(), at.in.end());
        in.insert(in.end(), {at.out[0], at.out[1], contiguous(at.d_out[0]), Tensor()});
        std::vector<Tensor> d_in =
            at.in[query].graph().add(std::make_shared<const AttentionBackwardOp>(options_), std::move(in));
        d_in.resize(at.in.size());
        return d_in;
    }

    void lower(Lowering& to) const override {
        const Extents e(options_, to.in[query].shape(), to.in[key].shape(), to.in[value].shape());
        const std::string implementation = implementation_of(to.device, options_, e, to.in, false);
        Dispatch made = attention_dispatch(attention_tile(to.device, implementation, AttentionPass::forward, e.size()),
                                           options_, e, to.in);
        align(made, e, {to.in[query], to.in[key], to.in[value], to.out[0]});
        made.args.insert(made.args.end(), {{"o", to.out[0]}, {"lse", to.out[1]}});
        made.flops = 2.0 * pairs(options_, e) * static_cast<double>(e.D + e.D_V);
        made.bytes = 8.0 * static_cast<double>(to.in[query].elements() + to.in[key].elements());
        to.dispatch(std::move(made));
    }

    KernelTraits kernel_traits(std::span<const Tensor> at) const override {
        return traits_of_heads(options_, at, 0b111, 0b1);
    }

private:
    static constexpr std::int64_t widest = 256;

    AttentionOptions options_;
};

}  // namespace

double AttentionOptions::scale_for(std::int64_t head_width) const {
    return scale != 0.0f ? static_cast<double>(scale) : 1.0 / std::sqrt(static_cast<double>(head_width));
}

Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options) {
    const Tensor noise = options.dropout > 0.0f ? options.seed : Tensor();
    const AttentionMask& mask = options.mask;
    return q.graph()
        .add(std::make_shared<const AttentionOp>(options), {q, k, v, noise, mask.query_lengths, mask.key_lengths})
        .front();
}

}  // namespace vkf
