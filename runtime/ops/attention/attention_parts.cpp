#include "ops/attention/attention_parts.h"

#include <algorithm>
#include <numbers>

#include "base/error.h"
#include "base/random.h"
#include "ops/attention/attention_tuning.h"
#include "ops/attention/project_out_launch.h"
#include "ops/vector_layout.h"

namespace vkf {

double dot(const double* a, const double* b, std::int64_t count) {
    double sum = 0;
    for (std::int64_t d = 0; d < count; ++d) sum += a[d] * b[d];
    return sum;
}

DropoutMask::DropoutMask(const AttentionOptions& options, const Array& seed)
    : rate_(options.dropout), salt_(options.salt) {
    for (std::size_t i = 0; i < 2 && rate_ > 0.0f; ++i)
        key_[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(seed.at[i]));
}

double DropoutMask::factor(std::int64_t batch_head, std::int64_t i, std::int64_t j) const {
    if (rate_ == 0.0f) return 1.0;
    std::uint32_t x = word(batch_head, i, 1) + word(batch_head, j, 2);
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    x ^= x >> 16;
    return unit_float(x) >= rate_ ? 1.0 / (1.0 - static_cast<double>(rate_)) : 0.0;
}

std::uint32_t DropoutMask::word(std::int64_t batch_head, std::int64_t position, std::uint32_t side) const {
    return philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(batch_head), salt_, side}, key_)[0];
}

AttentionRow::AttentionRow(const AttentionOptions& options, const AttentionExtents& e, std::span<const Array> in,
                           std::int64_t b, std::int64_t m, std::int64_t i)
    : p(static_cast<std::size_t>(e.S), 0.0) {
    const MaskRow mask = options.mask.row(e.T, e.S, b, in[query_lengths].at, in[key_lengths].at);
    const double scale = options.scale_for(e.D);
    double top = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < e.S; ++j) {
        p[static_cast<std::size_t>(j)] =
            mask.visible(i, j) ? scale * dot(&in[query].at[e.q_at(b, i, m)], &in[key].at[e.k_at(b, j, m)], e.D)
                               : -INFINITY;
        top = std::max(top, p[static_cast<std::size_t>(j)]);
    }
    for (double& s : p) sum += s = s > -INFINITY ? std::exp(s - top) : 0.0;
    if (sum == 0) return;
    lse = (top + std::log(sum)) / std::numbers::ln2;
    for (double& s : p) s /= sum;
}

double attention_pairs(const AttentionOptions& options, const AttentionExtents& e) {
    return static_cast<double>(e.B * e.M) * options.mask.row(e.T, e.S).pairs();
}

std::string attention_implementation(const DeviceTraits& device, const AttentionOptions& options,
                                     const AttentionExtents& e, std::span<const Tensor> in, bool backward) {
    AttentionMask mask = options.mask;
    mask.query_lengths = mask.key_lengths = {};
    return attention_implementation(
        device, {.size = e.size(), .mask = mask, .format = in[query].format(), .backward = backward});
}

KernelTraits traits_of_heads(const AttentionOptions& options, std::span<const Tensor> at, std::uint32_t in,
                             std::uint32_t out) {
    const bool even = at[query].width() / options.heads % 2 == 0 && at[value].width() / options.value_heads() % 2 == 0;
    if (!even) return {};
    return {.half_in = in, .half_out = out, .uniform = true, .lower_precision = true};
}

Dispatch attention_dispatch(const AttentionTile& tile, const AttentionOptions& options, const AttentionExtents& e,
                            std::span<const Tensor> in) {
    const Tensor q = in[query], k = in[key], v = in[value];
    for (const Tensor& x : {q, k, v}) checked_u32(x.rows() * x.pitch());  // kernels count elements in 32 bits
    checked_u32(e.B * e.T * e.M * e.D_V);
    const bool aligned = e.D % 2 == 0 && e.D_V % 2 == 0 && even(q) && even(k) && even(v);
    Dispatch made{.kernel = tile.kernel, .constants = tile.constants, .groups = tile.groups};
    made.constants.insert(made.constants.end(), {{"D", checked_u32(e.D)},
                                                 {"D_V", checked_u32(e.D_V)},
                                                 {"HEADS", checked_u32(e.M)},
                                                 {"GQA_GROUP", checked_u32(e.gqa_group())},
                                                 {"LAYOUT", vector_layout(q, aligned)},
                                                 {"DROPOUT", options.dropout > 0.0f}});
    Table optional_inputs{{{"seed", std::vector{in[seed]}}}};
    options.mask.append_pattern(made, e.T, e.S);
    options.mask.append_lengths(made, optional_inputs, in[query_lengths], in[key_lengths]);
    options.mask.append_random_blocks(optional_inputs, e.T, e.S);
    made.args = {{"q", q},
                 {"k", k},
                 {"v", v},
                 {"optional", std::move(optional_inputs)},
                 {"batches", checked_u32(e.B)},
                 {"queries", checked_u32(e.T)},
                 {"keys", checked_u32(e.S)},
                 {"q_pitch", checked_u32(q.pitch())},
                 {"k_pitch", checked_u32(k.pitch())},
                 {"v_pitch", checked_u32(v.pitch())},
                 {"scale", static_cast<float>(options.scale_for(e.D))},
                 {"drop", options.dropout},
                 {"salt", options.salt}};
    return made;
}

void align_attention(Dispatch& made, const AttentionExtents& e, std::initializer_list<Tensor> tensors) {
    if (!made.kernel.starts_with("attention_coopmat2")) return;
    const bool aligned =
        e.D % 8 == 0 && e.D_V % 8 == 0 && std::ranges::all_of(tensors, [](Tensor x) { return in_eights(x); });
    made.constants.emplace_back("ALIGNED", aligned);
}

std::vector<TensorType> check_attention(const AttentionOptions& options, std::span<const TensorType> in) {
    constexpr std::int64_t widest = 256;
    const Shape &q = in[query].shape, &k = in[key].shape;
    for (const std::size_t i : {query, key, value})
        require(in[i].dtype == DType::f32 && in[i].shape.rank() == 3 && in[i].shape.elements() > 0,
                "wants f32[B, T, heads * D], not ", in[i]);
    const Shape& v = in[value].shape;
    require(q[0] == k[0], "queries are ", q, ", keys ", k, ": their batches differ");
    require(k[0] == v[0] && k[1] == v[1], "keys are ", k, ", values ", v, ": wanted a value for each key");
    const std::int64_t heads = options.heads, kv_heads = options.value_heads();
    require(heads > 0 && q[2] % heads == 0, "queries are ", q, ": no ", heads, " heads of one width");
    require(kv_heads > 0 && heads % kv_heads == 0, heads, " query heads cannot share ", kv_heads, " key heads");
    require(k[2] * heads == q[2] * kv_heads, "keys are ", k, ", wanted ", kv_heads, " heads of width ", q[2] / heads);
    require(v[2] % kv_heads == 0, "values are ", v, ": no ", kv_heads, " heads of one width");
    for (const std::int64_t width : {q[2] / heads, v[2] / kv_heads})
        require(width <= widest, "the heads are ", width, " wide, at most ", widest, " is possible");
    require(std::isfinite(options.scale) && options.scale >= 0.0f, "scale is ", options.scale, ", wanted 0 or more");
    require(options.dropout >= 0.0f && options.dropout < 1.0f, "drops with probability ", options.dropout,
            ", wanted [0, 1)");
    require(options.dropout == 0.0f || in[seed] == TensorType{DType::i32, {2}}, "the seed is ", in[seed],
            ", wanted i32[2]");
    options.mask.check(q[0], in[query_lengths], in[key_lengths]);
    return {{DType::f32, {q[0], q[1], v[2] / kv_heads * heads}}, {DType::f32, {q[0], heads, q[1]}}};
}

AttentionTile forward_tile(const Lowering& lowering, const AttentionOptions& options) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    const std::string implementation = attention_implementation(lowering.device, options, e, lowering.in, false);
    return attention_tile(lowering.device, implementation, AttentionPass::forward, e.size());
}

bool has_epilogue(const AttentionTile& tile) {
    return tile.kernel == "attention" || tile.kernel == "attention_decode";
}

void lower_attention(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options, const ArgValue& o,
                     Tensor lse, const HeadEpilogue& epilogue) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    Dispatch made = attention_dispatch(tile, options, e, lowering.in);
    const auto* kept = std::get_if<Tensor>(&o);
    if (kept)
        align_attention(made, e, {lowering.in[query], lowering.in[key], lowering.in[value], *kept});
    else
        align_attention(made, e, {lowering.in[query], lowering.in[key], lowering.in[value]});
    const bool in_pairs = e.D % 2 == 0 && e.D_V % 2 == 0 && all_even(lowering.in.first(value + 1));
    made.constants.emplace_back("LAYOUT_O", vector_layout(kept ? kept->format() : Format::f32, in_pairs));
    made.args.insert(made.args.end(), {{"o", o}, {"lse", lse}});
    if (has_epilogue(tile)) {
        const Tensor own = epilogue.query_values;
        made.constants.emplace_back("EPILOGUE", static_cast<std::uint32_t>(epilogue.kind));
        made.constants.emplace_back("LAYOUT_OWN", vector_layout(own));
        made.args.insert(made.args.end(), {{"query_values", or_null(own)},
                                           {"coefficients", or_null(epilogue.coefficients)},
                                           {"own_pitch", own ? checked_u32(own.pitch()) : 0U},
                                           {"by_o", epilogue.by_o},
                                           {"by_v", epilogue.by_v}});
    }
    made.flops = 2.0 * attention_pairs(options, e) * static_cast<double>(e.D + e.D_V);
    made.bytes = 8.0 * static_cast<double>(lowering.in[query].elements() + lowering.in[key].elements());
    lowering.dispatch(std::move(made));
}

}  // namespace vkf
