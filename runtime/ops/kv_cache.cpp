// Rows appended to a state in place: the keys and values of generation.
#include "ops/kv_cache.h"

#include <algorithm>

#include "base/error.h"
#include "ops/rows.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

class KvCacheAppendOp : public Op {
public:
    std::string_view name() const override { return "kv_cache_append"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &whole = in[0].shape, &rows = in[1].shape;
        require(in[0].dtype == DType::f32 && in[1].dtype == DType::f32 && whole.rank() == 3 && rows.rank() == 3 &&
                    whole[0] == rows[0] && whole[2] == rows[2] && rows[1] <= whole[1],
                "cannot append ", rows, " to a cache of ", whole);
        const TensorType each{DType::i32, {rows[0]}}, one{DType::i32, {1}};
        require(in[2] == each || in[2] == one, "lengths are ", in[2], ", wanted ", each, " or ", one);
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        out[0] = in[0];
        const std::int64_t capacity = in[0].shape[1], width = in[0].shape[2], fresh = in[1].shape[1];
        for (std::int64_t row = 0; row < in[1].shape.rows(); ++row) {
            const double length = in[2].at[static_cast<std::size_t>(row / fresh) % in[2].at.size()];
            const std::int64_t place = static_cast<std::int64_t>(length) - fresh + row % fresh;
            if (place < 0 || place >= capacity) continue;
            for (std::int64_t i = 0; i < width; ++i)
                out[0].at[static_cast<std::size_t>((row / fresh * capacity + place) * width + i)] =
                    in[1].at[static_cast<std::size_t>(row * width + i)];
        }
        return true;
    }

    void lower(Lowering& to) const override {
        const Tensor whole = to.out[0], rows = to.in[1];
        to.dispatch({.kernel = "kv_cache_append",
                     .constants = {{"GROUP", row_group(to.device, (rows.width() + 1) / 2)},
                                   {"LAYOUT", vector_layout(whole)},
                                   {"ROWS_LAYOUT", vector_layout(rows)}},
                     .args = {{"whole", whole},
                              {"rows", rows},
                              {"lengths", to.in[2]},
                              {"length_count", extent(to.in[2].elements())},
                              {"row_count", extent(rows.rows())},
                              {"fresh", extent(rows.shape()[1])},
                              {"capacity", extent(whole.shape()[1])},
                              {"width", extent(rows.width())},
                              {"rows_pitch", extent(rows.pitch())}},
                     .groups = static_cast<std::uint64_t>(rows.rows()),
                     .flops = 0,
                     .bytes = 8.0 * static_cast<double>(rows.elements())});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b11, .half_out = 0b1}; }

    std::optional<std::size_t> updates(std::size_t) const override { return 0; }
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

    void lower(Lowering& to) const override {
        const Tensor whole = to.out[0], one = to.in[1];
        const RowSweep grid = row_sweep(to.device, one.rows(), (one.width() + 1) / 2);
        to.dispatch(
            {.kernel = "kv_cache_copy",
             .constants = {{"GROUP", grid.group}, {"LAYOUT", vector_layout(whole)}, {"ONE_LAYOUT", vector_layout(one)}},
             .args = {{"whole", whole},
                      {"one", one},
                      {"place", to.in[2]},
                      {"batches", extent(whole.shape()[0])},
                      {"capacity", extent(whole.shape()[1])},
                      {"width", extent(whole.width())},
                      {"one_pitch", extent(one.pitch())},
                      {"per_group", grid.per_group}},
             .groups = grid.groups,
             .flops = 0,
             .bytes = 8.0 * static_cast<double>(one.elements())});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b11, .half_out = 0b1}; }

    std::optional<std::size_t> updates(std::size_t) const override { return 0; }
};

}  // namespace

Tensor kv_cache_append(Tensor whole, Tensor rows, Tensor lengths) {
    return add_one(whole.graph(), KvCacheAppendOp(), {whole, rows, lengths});
}

Tensor kv_cache_copy(Tensor whole, Tensor one, Tensor place) {
    return add_one(whole.graph(), KvCacheCopyOp(), {whole, one, place});
}

}  // namespace vkf
