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

enum Operand : std::size_t { query, key, value, seed, length };

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Letters as in ops/attention.h; `share` query heads read one key head.
struct Extents {
    std::int64_t B, T, S, M, N, D;

    Extents(const AttentionOptions& options, const Shape& q, const Shape& k)
        : B(q[0]), T(q[1]), S(k[1]), M(options.heads), N(options.value_heads()), D(q[2] / options.heads) {}

    std::int64_t share() const { return M / N; }
    /// Where head m of position i begins in a dense [B, length, heads·D].
    std::size_t at(std::int64_t b, std::int64_t i, std::int64_t m, std::int64_t length, std::int64_t heads) const {
        return index(((b * length + i) * heads + m) * D);
    }
    std::size_t q_at(std::int64_t b, std::int64_t i, std::int64_t m) const { return at(b, i, m, T, M); }
    std::size_t k_at(std::int64_t b, std::int64_t j, std::int64_t m) const { return at(b, j, m / share(), S, N); }
    template <class Visit>
    void each_row(const Visit& visit) const {
        for (std::int64_t b = 0; b < B; ++b)
            for (std::int64_t m = 0; m < M; ++m)
                for (std::int64_t i = 0; i < T; ++i) visit(b, m, i);
    }
    /// Pairs of query and key that are looked at.
    double pairs(bool causal) const {
        double count = 0;
        for (std::int64_t i = 0; i < T; ++i)
            count += static_cast<double>(causal ? std::clamp<std::int64_t>(i + S - T + 1, 0, S) : S);
        return count * static_cast<double>(B * M);
    }
};

double dot(const double* a, const double* b, std::int64_t count) {
    double sum = 0;
    for (std::int64_t d = 0; d < count; ++d) sum += a[d] * b[d];
    return sum;
}

/// The words of shaders/lib/attention_mask.glsl that dropout's bits for a pair come from.
class PairMask {
public:
    PairMask(const AttentionOptions& options, const Array& seed) : rate_(options.dropout), salt_(options.salt) {
        for (std::size_t i = 0; i < 2 && rate_ > 0.0f; ++i)
            key_[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(seed.at[i]));
    }

    double factor(std::int64_t plane, std::int64_t i, std::int64_t j) const {
        if (rate_ == 0.0f) return 1.0;
        std::uint32_t x = word(plane, i, 1) + word(plane, j, 2);
        x = (x ^ (x >> 16)) * 0x7feb352du;
        x = (x ^ (x >> 15)) * 0x846ca68bu;
        x ^= x >> 16;
        return unit_float(x) >= rate_ ? 1.0 / (1.0 - static_cast<double>(rate_)) : 0.0;
    }

private:
    std::uint32_t word(std::int64_t plane, std::int64_t position, std::uint32_t side) const {
        return philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(plane), salt_, side}, key_)[0];
    }

    float rate_;
    std::uint32_t salt_;
    std::array<std::uint32_t, 2> key_{};
};

/// Row i's probabilities over the first `keys` keys, and the logarithm of their common divisor in base 2: +inf and
/// zeros if it sees no key.
struct Row {
    std::vector<double> p;
    double lse = INFINITY;

    Row(const AttentionOptions& options, const Extents& e, std::int64_t keys, std::span<const Array> in, std::int64_t b,
        std::int64_t m, std::int64_t i)
        : p(index(keys), 0.0) {
        const std::int64_t place = i + keys - e.T;
        const double scale = options.scale_for(e.D);
        double top = -INFINITY, sum = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
            const bool visible = (!options.causal || j <= place) && (!options.mask_diagonal || j != place);
            const double logit = dot(&in[query].at[e.q_at(b, i, m)], &in[key].at[e.k_at(b, j, m)], e.D);
            p[index(j)] = visible ? scale * logit : -INFINITY;
            top = std::max(top, p[index(j)]);
        }
        for (double& s : p) sum += s = s > -INFINITY ? std::exp(s - top) : 0.0;
        if (sum == 0) return;
        lse = (top + std::log(sum)) / std::numbers::ln2;
        for (double& s : p) s /= sum;
    }
};

/// Which way a forward pass, or a whole derivative, is computed.
std::string way_of(const DeviceTraits& device, const AttentionOptions& options, const Extents& e, Tensor q,
                   bool backward) {
    return attention_implementation(device, {.size = {e.B * e.M, e.T, e.S, e.D},
                                  .shared = e.share() > 1,
                                  .causal = options.causal,
                                  .mask_diagonal = options.mask_diagonal,
                                  .format = q.format(),
                                  .backward = backward});
}

ArgValue optional(Tensor tensor) {
    return tensor ? ArgValue{tensor} : ArgValue{};
}

/// q, k, v and whatever has their shape; heads must be made of whole pairs.
Halves rows_of_heads(Tensor q, std::int64_t heads, std::uint32_t in, std::uint32_t out) {
    return q.width() / heads % 2 == 0 ? Halves{in, out, Halves::Rule::together} : Halves{};
}

/// What the three kernels have in common.
Dispatch attention_dispatch(const AttentionTile& tile, const AttentionOptions& options, const Extents& e,
                            std::span<const Tensor> in) {
    const Tensor q = in[query], k = in[key], v = in[value];
    for (const Tensor& x : {q, k, v}) extent(x.rows() * x.pitch());  // kernels count elements in 32 bits
    const bool aligned = e.D % 2 == 0 && even(q) && even(k) && even(v);
    auto constants = tile.constants;
    constants.insert(constants.end(), {{"D", extent(e.D)},
                                       {"HEADS", extent(e.M)},
                                       {"SHARE", extent(e.share())},
                                       {"LAYOUT", vector_layout(q, aligned)},
                                       {"CAUSAL", options.causal},
                                       {"MASK_DIAGONAL", options.mask_diagonal},
                                       {"DROPOUT", options.dropout > 0.0f}});
    return {.kernel = tile.kernel,
            .constants = std::move(constants),
            .args = {{"q", q},
                     {"k", k},
                     {"v", v},
                     {"seed", optional(in[seed])},
                     {"batches", extent(e.B)},
                     {"queries", extent(e.T)},
                     {"keys", extent(e.S)},
                     {"q_pitch", extent(q.pitch())},
                     {"k_pitch", extent(k.pitch())},
                     {"v_pitch", extent(v.pitch())},
                     {"scale", static_cast<float>(options.scale_for(e.D))},
                     {"drop", options.dropout},
                     {"salt", options.salt}},
            .groups = tile.groups};
}

/// Matrices of a workgroup are loaded faster where rows in 16 bits start at multiples of 16 bytes.
void align(Dispatch& made, const Extents& e, std::initializer_list<Tensor> tensors) {
    if (!made.kernel.starts_with("attention_coopmat2")) return;
    const bool aligned = e.D % 8 == 0 && std::ranges::all_of(tensors, [](Tensor x) { return in_eights(x); });
    made.constants.emplace_back("ALIGNED", aligned);
}

/// d_q, d_k and d_v from (q, k, v, seed, o, lse, d_o), and what is to be added to d_v.
class AttentionBackwardOp : public Op {
public:
    explicit AttentionBackwardOp(const AttentionOptions& options) : options_(options) {}

    std::string_view name() const override { return "attention_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[d_o] == in[query], "d_o is ", in[d_o], ", wanted ", in[query]);
        return {in[query], in[key], in[value]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Extents e(options_, in[query].shape, in[key].shape);
        const PairMask mask(options_, in[seed]);
        const double scale = options_.scale_for(e.D);
        e.each_row([&](std::int64_t b, std::int64_t m, std::int64_t i) {
            const Row row(options_, e, e.S, in, b, m, i);
            const std::size_t at_q = e.q_at(b, i, m);
            const double* g = &in[d_o].at[at_q];
            const double delta = dot(g, &in[o].at[at_q], e.D);
            for (std::int64_t j = 0; j < e.S; ++j) {
                const double p = row.p[index(j)];
                if (p == 0) continue;
                const double kept = mask.factor(b * e.M + m, i, j);
                const std::size_t at_k = e.k_at(b, j, m);
                const double d_s = scale * p * (kept * dot(g, &in[value].at[at_k], e.D) - delta);
                for (std::size_t c = 0; c < index(e.D); ++c) {
                    out[0].at[at_q + c] += d_s * in[key].at[at_k + c];
                    out[1].at[at_k + c] += d_s * in[query].at[at_q + c];
                    out[2].at[at_k + c] += p * kept * g[c];
                }
            }
        });
        for (std::size_t i = 0; i < in[more].at.size(); ++i) out[2].at[i] += in[more].at[i];
        return true;
    }

    void lower(Lowering& to) const override {
        const Extents e(options_, to.in[query].shape(), to.in[key].shape());
        const Scratch delta = to.scratch(e.B * e.M * e.T);
        const double pairs = e.pairs(options_.causal);
        const auto bytes = [](std::initializer_list<Tensor> tensors) {
            double sum = 0;
            for (const Tensor& tensor : tensors) sum += 4.0 * static_cast<double>(tensor.elements());
            return sum;
        };
        const Tensor q = to.in[query], k = to.in[key], v = to.in[value];
        const Tensor addend = to.in[more];
        const std::string way = way_of(to.device, options_, e, q, true);
        const auto add = [&](Dispatch& made, Args own) {
            made.args.insert(made.args.end(), {{"lse", to.in[lse]}, {"g", to.in[d_o]}, {"delta", delta}});
            made.args.insert(made.args.end(), own.begin(), own.end());
            to.dispatch(std::move(made));
        };
        Dispatch queries = attention_dispatch(
            attention_tile(to.device, way, AttentionPass::query_gradient, {e.B * e.M, e.T, e.S, e.D}), options_, e,
            to.in);
        queries.flops = 6.0 * pairs * static_cast<double>(e.D);
        queries.bytes = bytes({q, k, v, q, q, q});
        align(queries, e, {q, k, v, to.in[d_o], to.out[0]});
        add(queries, {{"o", to.in[o]}, {"dq", to.out[0]}, {"dq_pitch", extent(to.out[0].pitch())}});
        Dispatch keys =
            attention_dispatch(attention_tile(to.device, way, AttentionPass::key_gradient, {e.B * e.N, e.S, e.T, e.D}),
                               options_, e, to.in);
        keys.flops = 8.0 * pairs * static_cast<double>(e.D);
        keys.bytes = bytes({q, k, v, q, k, v}) + (addend ? bytes({v}) : 0.0);
        keys.constants.emplace_back("ADDEND", static_cast<bool>(addend));
        align(keys, e, {q, k, v, to.in[d_o], to.out[1], to.out[2]});
        add(keys, {{"dk", to.out[1]},
                   {"dv", to.out[2]},
                   {"dk_pitch", extent(to.out[1].pitch())},
                   {"dv_pitch", extent(to.out[2].pitch())},
                   {"addend", optional(addend)}});
    }

    Halves halves(std::span<const Tensor> at) const override {
        return rows_of_heads(at[query], options_.heads, 0b111 | 1u << o | 1u << d_o | 1u << more, 0b111);
    }
    std::optional<std::size_t> takes_addend(std::size_t output) const override {
        return output == 2 ? std::optional<std::size_t>(more) : std::nullopt;
    }
    bool may_alias(std::size_t output, std::size_t input) const override { return output == 2 && input == more; }
    bool makes_slices(std::size_t) const override { return true; }

private:
    enum Saved : std::size_t { o = 4, lse, d_o, more };

    AttentionOptions options_;
};

/// o and the log-sum-exp of each row in base 2, [B, M, T], from (q, k, v, seed, length), the last two absent where not
/// used.
class AttentionOp : public Op {
public:
    explicit AttentionOp(const AttentionOptions& options) : options_(options) {}

    std::string_view name() const override { return "attention"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &q = in[query].shape, &k = in[key].shape;
        for (const std::size_t i : {query, key, value})
            require(in[i].dtype == DType::f32 && in[i].shape.rank() == 3 && in[i].shape.elements() > 0,
                    "wants f32[B, T, heads * D], not ", in[i]);
        require(in[key] == in[value], "keys are ", k, ", values ", in[value].shape);
        require(q[0] == k[0], "queries are ", q, ", keys ", k, ": their batches differ");
        const std::int64_t heads = options_.heads, kv_heads = options_.value_heads();
        require(heads > 0 && q[2] % heads == 0, "queries are ", q, ": no ", heads, " heads of one width");
        require(kv_heads > 0 && heads % kv_heads == 0, heads, " query heads cannot share ", kv_heads, " key heads");
        require(k[2] * heads == q[2] * kv_heads, "keys are ", k, ", wanted ", kv_heads, " heads of width ",
                q[2] / heads);
        require(q[2] / heads <= widest, "the heads are ", q[2] / heads, " wide, at most ", widest, " is possible");
        require(std::isfinite(options_.scale), "scale is ", options_.scale);
        require(options_.dropout >= 0.0f && options_.dropout < 1.0f, "drops with probability ", options_.dropout,
                ", wanted [0, 1)");
        require(options_.dropout == 0.0f || in[seed] == TensorType{DType::i32, {2}}, "the seed is ", in[seed],
                ", wanted i32[2]");
        require(!options_.length || (in[length].dtype == DType::i32 && in[length].shape.elements() == 1), "length is ",
                in[length], ", wanted one i32");
        return {in[query], {DType::f32, {q[0], heads, q[1]}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Extents e(options_, in[query].shape, in[key].shape);
        const PairMask mask(options_, in[seed]);
        const std::int64_t keys =
            options_.length ? std::clamp<std::int64_t>(static_cast<std::int64_t>(in[length].at[0]), 0, e.S) : e.S;
        e.each_row([&](std::int64_t b, std::int64_t m, std::int64_t i) {
            const Row row(options_, e, keys, in, b, m, i);
            out[1].at[index((b * e.M + m) * e.T + i)] = row.lse;
            for (std::int64_t j = 0; j < keys; ++j) {
                if (row.p[index(j)] == 0) continue;
                const double p = row.p[index(j)] * mask.factor(b * e.M + m, i, j);
                for (std::size_t c = 0; c < index(e.D); ++c)
                    out[0].at[e.q_at(b, i, m) + c] += p * in[value].at[e.k_at(b, j, m) + c];
            }
        });
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!options_.length, "attention to a cache has no derivative");
        require(!at.d_out[1], "the log-sum-exp of attention has no derivative");
        std::vector<Tensor> d_in = at.in[query].graph().add(std::make_shared<const AttentionBackwardOp>(options_),
                                                            {at.in[query], at.in[key], at.in[value], at.in[seed],
                                                             at.out[0], at.out[1], contiguous(at.d_out[0]), Tensor()});
        d_in.resize(at.in.size());
        return d_in;
    }

    void lower(Lowering& to) const override {
        const Extents e(options_, to.in[query].shape(), to.in[key].shape());
        const std::string way = way_of(to.device, options_, e, to.in[query], false);
        Dispatch made = attention_dispatch(
            attention_tile(to.device, way, AttentionPass::forward, {e.B * e.M, e.T, e.S, e.D}), options_, e, to.in);
        made.constants.emplace_back("LENGTH", static_cast<bool>(options_.length));
        align(made, e, {to.in[query], to.in[key], to.in[value], to.out[0]});
        made.args.insert(made.args.end(), {{"length", optional(to.in[length])}, {"o", to.out[0]}, {"lse", to.out[1]}});
        made.flops = 4.0 * e.pairs(options_.causal) * static_cast<double>(e.D);
        made.bytes = 8.0 * static_cast<double>(to.in[query].elements() + to.in[key].elements());
        to.dispatch(std::move(made));
    }

    Halves halves(std::span<const Tensor> at) const override {
        return rows_of_heads(at[query], options_.heads, 0b111, 0b1);
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
    return q.graph().add(std::make_shared<const AttentionOp>(options), {q, k, v, noise, options.length}).front();
}

}  // namespace vkf
