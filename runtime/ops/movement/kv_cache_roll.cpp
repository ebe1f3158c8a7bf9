// Positions dropped from keys and values that no query sees any more.
#include <algorithm>

#include "base/error.h"
#include "base/integers.h"
#include "ops/movement/kv_cache.h"
#include "ops/rows/policy.h"

namespace vkf {

namespace {

/// Operands: keys, values, lengths. Results: the states of keys and values, and the lengths in rows.
class KvCacheRollOp : public Op {
public:
    KvCacheRollOp(const CacheRoll& roll, std::int64_t fresh) : roll_(roll), fresh_(fresh) {}

    std::string_view name() const override { return "kv_cache_roll"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &keys = in[0].shape, &values = in[1].shape;
        require(in[0].dtype == DType::f32 && in[1].dtype == DType::f32 && keys.rank() == 3 && values.rank() == 3 &&
                    keys[0] == values[0] && keys[1] == values[1],
                "cannot drop positions of keys ", in[0], " and values ", in[1]);
        const TensorType each{DType::i32, {keys[0]}};
        require(in[2] == each, "lengths are ", in[2], ", wanted ", each);
        require(roll_.first >= 0 && roll_.step >= 1 && fresh_ >= 1 && keys[1] >= roll_.first + roll_.step + fresh_,
                "a cache of ", keys[1], " rows cannot keep ", roll_.first, ", drop ", roll_.step, " at a time and get ",
                fresh_, " more");
        return {in[0], in[1], each};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::int64_t batches = in[0].shape[0], rows = in[0].shape[1];
        for (const std::size_t k : {0u, 1u}) {
            const std::int64_t width = in[k].shape[2];
            out[k] = in[k];
            for (std::int64_t b = 0; b < batches; ++b) {
                const auto length = static_cast<std::int64_t>(in[2].at[as_index(b)]);
                const std::int64_t all = roll_.dropped(length, rows);
                const std::int64_t distance = all - roll_.dropped(length - fresh_, rows);
                const std::int64_t end = std::min(length - fresh_ - all, rows - distance);
                const auto row = [&](std::int64_t s) { return out[k].at.begin() + (b * rows + s) * width; };
                if (distance > 0 && end > roll_.first)
                    std::copy(row(roll_.first + distance), row(end + distance), row(roll_.first));
                out[2].at[as_index(b)] = static_cast<double>(length - all);
            }
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor keys = lowering.out[0], values = lowering.out[1];
        const auto words = [](Tensor state) { return state.width() / (state.format() == Format::f32 ? 1 : 2); };
        const std::int64_t widest = std::max(words(keys), words(values)), batches = keys.shape()[0];
        const std::uint32_t group = row_group(lowering.device, widest);
        const std::int64_t shares = ceil_div(widest, group);
        lowering.dispatch({.kernel = "kv_cache_roll",
                           .constants = {{"GROUP", group}},
                           .args = {{"keys", keys},
                                    {"values", values},
                                    {"lengths", lowering.in[2]},
                                    {"rows_filled", lowering.out[2]},
                                    {"batches", checked_u32(batches)},
                                    {"shares", checked_u32(shares)},
                                    {"rows", checked_u32(keys.shape()[1])},
                                    {"first", checked_u32(roll_.first)},
                                    {"step", checked_u32(roll_.step)},
                                    {"fresh", checked_u32(fresh_)},
                                    {"key_words", checked_u32(words(keys))},
                                    {"value_words", checked_u32(words(values))}},
                           .groups = static_cast<std::uint64_t>(2 * batches * shares),
                           .flops = 0,
                           // Every step-th call moves all rows.
                           .bytes = 8.0 * static_cast<double>(keys.elements() + values.elements()) *
                                    static_cast<double>(fresh_) / static_cast<double>(roll_.step)});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b11, .half_out = 0b11}; }

    std::optional<std::size_t> updates(std::size_t output) const override {
        return output < 2 ? std::optional(output) : std::nullopt;
    }

private:
    CacheRoll roll_;
    std::int64_t fresh_;
};

}  // namespace

std::int64_t CacheRoll::dropped(std::int64_t length, std::int64_t rows) const {
    return length <= rows ? 0 : ceil_div(length - rows, step) * step;
}

RolledCache kv_cache_roll(const KeysAndValues& cache, Tensor lengths, const CacheRoll& roll, std::int64_t fresh) {
    const std::vector<Tensor> made =
        cache.keys.graph().add(std::make_shared<const KvCacheRollOp>(roll, fresh), {cache.keys, cache.values, lengths});
    return {{made[0], made[1]}, made[2]};
}

}  // namespace vkf
