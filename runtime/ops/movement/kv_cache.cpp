// Rows appended to a state in place: the keys and values of generation.
#include "ops/movement/kv_cache.h"

#include <algorithm>

#include "base/error.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Operands: one or two caches, their rows, lengths. The results are the caches.
class KvCacheAppendOp : public Op {
public:
    explicit KvCacheAppendOp(std::int64_t behind = 0) : behind_(behind) {}

    std::string_view name() const override { return "kv_cache_append"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const std::size_t count = caches(in);
        const Shape &first = in[0].shape, &first_rows = in[count].shape;
        for (std::size_t k = 0; k < count; ++k) {
            const TensorType &cache = in[k], &rows = in[count + k];
            require(cache.dtype == DType::f32 && rows.dtype == DType::f32 && cache.shape.rank() == 3 &&
                        rows.shape.rank() == 3 && cache.shape[0] == rows.shape[0] && cache.shape[2] == rows.shape[2] &&
                        rows.shape[1] <= cache.shape[1],
                    "cannot append ", rows.shape, " to a cache of ", cache.shape);
            require(cache.shape[0] == first[0] && cache.shape[1] == first[1] && rows.shape[1] == first_rows[1],
                    "keys are ", first_rows, " of ", first, ", values ", rows.shape, " of ", cache.shape);
        }
        const TensorType each{DType::i32, {first[0]}}, one{DType::i32, {1}};
        require(in.back() == each || in.back() == one, "lengths are ", in.back(), ", wanted ", each, " or ", one);
        return {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(count)};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::size_t count = caches(in);
        for (std::size_t k = 0; k < count; ++k) append(in[k], in[count + k], in.back(), out[k]);
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::size_t count = caches(lowering.in), last = count - 1;
        const Tensor keys = lowering.out[0], values = lowering.out[last], k = lowering.in[count],
                     v = lowering.in[count + last], lengths = lowering.in.back();
        lowering.dispatch(
            {.kernel = "kv_cache_append",
             .constants = {{"GROUP", row_group(lowering.device, (std::max(k.width(), v.width()) + 1) / 2)},
                           {"LAYOUT_KEYS", vector_layout(keys)},
                           {"LAYOUT_VALUES", vector_layout(values)},
                           {"LAYOUT_K", vector_layout(k)},
                           {"LAYOUT_V", vector_layout(v)},
                           {"CACHES", checked_u32(static_cast<std::int64_t>(count))}},
             .args = {{"keys", keys},
                      {"values", values},
                      {"k", k},
                      {"v", v},
                      {"lengths", lengths},
                      {"length_count", checked_u32(lengths.elements())},
                      {"row_count", checked_u32(k.rows())},
                      {"fresh", checked_u32(k.shape()[1])},
                      {"behind", checked_u32(behind_)},
                      {"capacity", checked_u32(keys.shape()[1])},
                      {"k_width", checked_u32(k.width())},
                      {"v_width", checked_u32(v.width())},
                      {"k_pitch", checked_u32(k.pitch())},
                      {"v_pitch", checked_u32(v.pitch())}},
             .groups = count * static_cast<std::uint64_t>(k.rows()),
             .flops = 0,
             .bytes = 8.0 * static_cast<double>(k.elements() + (count > 1 ? v.elements() : 0))});
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        return caches(in) > 1 ? KernelTraits{.half_in = 0b1111, .half_out = 0b11}
                              : KernelTraits{.half_in = 0b11, .half_out = 0b1};
    }

    std::optional<std::size_t> updates(std::size_t output) const override { return output; }

private:
    /// Number of caches among all operands.
    static std::size_t caches(const auto& operands) { return operands.size() / 2; }

    void append(const Array& cache, const Array& rows, const Array& lengths, Array& out) const {
        out = cache;
        const std::int64_t capacity = cache.shape[1], width = cache.shape[2], fresh = rows.shape[1];
        for (std::int64_t row = 0; row < rows.shape.rows(); ++row) {
            const double length = lengths.at[static_cast<std::size_t>(row / fresh) % lengths.at.size()];
            const std::int64_t place = static_cast<std::int64_t>(length) - behind_ - fresh + row % fresh;
            if (place < 0 || place >= capacity) continue;
            std::copy_n(rows.at.begin() + row * width, width,
                        out.at.begin() + (row / fresh * capacity + place) * width);
        }
    }

    std::int64_t behind_;
};

class KvCacheCopyOp : public Op {
public:
    std::string_view name() const override { return "kv_cache_copy"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &whole = in[0].shape, &one = in[1].shape;
        require(in[0].dtype == DType::f32 && in[1].dtype == DType::f32 && whole.rank() == 3 &&
                    one == Shape{1, whole[1], whole[2]},
                "cannot copy ", one, " to a sequence of ", whole);
        require(in[2] == TensorType{DType::i32, {2}}, "the place is ", in[2], ", wanted i32[2]");
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        out[0] = in[0];
        const Shape& whole = in[0].shape;
        const auto row = static_cast<std::int64_t>(in[2].at[0]);
        const std::int64_t count = std::clamp<std::int64_t>(static_cast<std::int64_t>(in[2].at[1]), 0, whole[1]);
        if (row < 0 || row >= whole[0]) return true;
        std::copy_n(in[1].at.begin(), count * whole[2], out[0].at.begin() + row * whole[1] * whole[2]);
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor whole = lowering.out[0], one = lowering.in[1];
        const RowSweep grid = row_sweep(lowering.device, one.rows(), (one.width() + 1) / 2);
        lowering.dispatch(
            {.kernel = "kv_cache_copy",
             .constants = {{"GROUP", grid.group}, {"LAYOUT", vector_layout(whole)}, {"ONE_LAYOUT", vector_layout(one)}},
             .args = {{"whole", whole},
                      {"one", one},
                      {"place", lowering.in[2]},
                      {"batches", checked_u32(whole.shape()[0])},
                      {"capacity", checked_u32(whole.shape()[1])},
                      {"width", checked_u32(whole.width())},
                      {"one_pitch", checked_u32(one.pitch())},
                      {"per_group", grid.per_group}},
             .groups = grid.groups,
             .flops = 0,
             .bytes = 8.0 * static_cast<double>(one.elements())});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b11, .half_out = 0b1}; }

    std::optional<std::size_t> updates(std::size_t) const override { return 0; }
};

class KvCacheReorderOp : public Op {
    static constexpr std::int64_t most_beams = 16;  // an invocation keeps a word of each in registers

public:
    explicit KvCacheReorderOp(std::int64_t beams) : beams_(beams) {}

    std::string_view name() const override { return "kv_cache_reorder"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& state = in[0].shape;
        require(beams_ >= 1 && beams_ <= most_beams, "the number of beams is ", beams_, ", wanted 1 to ", most_beams);
        require(in[0].dtype == DType::f32 && state.rank() == 3 && state[0] % beams_ == 0, "cannot cut a state ", in[0],
                " into groups of ", beams_, " sequences");
        const TensorType each{DType::i32, {state[0]}}, group{DType::i32, {state[0] / beams_}};
        require(in[1] == each, "parents are ", in[1], ", wanted ", each);
        require(in[2] == group, "lengths are ", in[2], ", wanted ", group);
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        out[0] = in[0];
        const Shape& state = in[0].shape;
        const std::int64_t sequence = state[1] * state[2];
        for (std::int64_t row = 0; row < state[0]; ++row) {
            const std::int64_t group = row / beams_;
            const auto parent = static_cast<std::int64_t>(in[1].at[static_cast<std::size_t>(row)]);
            const auto length = static_cast<std::int64_t>(in[2].at[static_cast<std::size_t>(group)]);
            const std::int64_t from = group * beams_ + std::clamp<std::int64_t>(parent, 0, beams_ - 1);
            std::copy_n(in[0].at.begin() + from * sequence, std::clamp<std::int64_t>(length, 0, state[1]) * state[2],
                        out[0].at.begin() + row * sequence);
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor state = lowering.out[0];
        const std::int64_t capacity = state.shape()[1], groups = state.shape()[0] / beams_;
        const bool packed = state.format() != Format::f32, wide = in_multiples(state, state.width(), packed ? 4 : 2);
        const std::int64_t words = state.width() / (packed ? 2 : 1) / (wide ? 2 : 1);
        const RowSweep grid = row_sweep(lowering.device, groups * capacity, words * beams_);
        const std::int64_t shares = (capacity + grid.per_group - 1) / grid.per_group;
        lowering.dispatch({.kernel = "kv_cache_reorder",
                           .constants = {{"GROUP", row_group(lowering.device, words)},
                                         {"BEAMS", checked_u32(beams_)},
                                         {"WIDE", wide}},
                           .args = {{"state", state},
                                    {"parents", lowering.in[1]},
                                    {"lengths", lowering.in[2]},
                                    {"groups", checked_u32(groups)},
                                    {"capacity", checked_u32(capacity)},
                                    {"words", checked_u32(words)},
                                    {"shares", checked_u32(shares)},
                                    {"per_share", grid.per_group}},
                           .groups = static_cast<std::uint64_t>(groups * shares),
                           .flops = 0,
                           .bytes = 8.0 * static_cast<double>(state.elements())});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b1, .half_out = 0b1}; }

    std::optional<std::size_t> updates(std::size_t) const override { return 0; }

private:
    std::int64_t beams_;
};

}  // namespace

KeysAndValues kv_cache_append(const KeysAndValues& cache, const KeysAndValues& rows, Tensor lengths) {
    const std::vector<Tensor> whole = cache.keys.graph().add(
        std::make_shared<const KvCacheAppendOp>(), {cache.keys, cache.values, rows.keys, rows.values, lengths});
    return {whole[0], whole[1]};
}

Tensor kv_cache_append(Tensor cache, Tensor rows, Tensor lengths, std::int64_t behind) {
    return add_one(cache.graph(), KvCacheAppendOp(behind), {cache, rows, lengths});
}

Tensor kv_cache_copy(Tensor whole, Tensor one, Tensor place) {
    return add_one(whole.graph(), KvCacheCopyOp(), {whole, one, place});
}

Tensor kv_cache_reorder(Tensor state, Tensor parents, Tensor lengths, std::int64_t beams) {
    return add_one(state.graph(), KvCacheReorderOp(beams), {state, parents, lengths});
}

}  // namespace vkf
