#include "ops/linear_attention/head_chunks.h"

#include "base/error.h"
#include "base/integers.h"
#include "ops/rows/policy.h"

namespace vkf {

TensorType HeadChunks::matrices(const TensorType& x, std::int64_t columns) const {
    return {DType::f32, {x.shape[0] * (heads / sharing) * chunks, sharing * chunk, columns}};
}

void HeadChunks::check(const TensorType& x, const TensorType& length_type, const TensorType& key_length_type) const {
    require(x.dtype == DType::f32 && x.shape.rank() == 3 && x.shape.elements() > 0 && x.shape[2] % heads == 0,
            "wants f32[B, T, H·D] with ", heads, " heads, not ", x);
    const std::int64_t positions = keys > 0 ? keys : x.shape[1];
    require(chunk * chunks >= positions, chunks, " chunks of ", chunk, " cannot hold ", positions, " positions");
    const TensorType each{DType::i32, {x.shape[0]}}, one{DType::i32, {1}};
    require(!lengths || length_type == each || length_type == one, "lengths are ", length_type, ", wanted ", each,
            " or ", one);
    require(!key_lengths || key_length_type == each || key_length_type == one, "lengths of keys are ", key_length_type,
            ", wanted ", each, " or ", one);
}

MaskRow HeadChunks::counted(std::int64_t length, std::int64_t b, const Array& length_values,
                            const Array& key_length_values) const {
    return AttentionMask().row(length, keys, b, length_values.at, key_length_values.at);
}

std::optional<std::int64_t> HeadChunks::matrix_row(const MaskRow& rows, std::int64_t b, std::int64_t i,
                                                   std::int64_t h) const {
    const std::int64_t position = keys > 0 ? rows.position(i) : i;
    if (i >= rows.queries || position < 0) return std::nullopt;
    const std::int64_t matrix = (b * (heads / sharing) + h / sharing) * chunks + position / chunk;
    return (matrix * sharing + h % sharing) * chunk + position % chunk;
}

Dispatch HeadChunks::launch(const DeviceTraits& device, std::int64_t rows, const Shape& x, std::int64_t columns,
                            Tensor row_lengths, Tensor numbers_of_keys) const {
    const RowSweep grid = row_sweep(device, rows, columns / 2);
    const auto stride = [](Tensor numbers) { return numbers && numbers.elements() > 1 ? 1u : 0u; };
    const auto optional = [](Tensor numbers) { return numbers ? ArgValue{numbers} : ArgValue{}; };
    return {.kernel = {},
            .constants = {{"GROUP", grid.group},
                          {"WIDTH", checked_u32(x[2] / heads)},
                          {"COLUMNS", checked_u32(columns)},
                          {"HEADS", checked_u32(heads)},
                          {"SHARING", checked_u32(sharing)},
                          {"CHUNK", checked_u32(chunk)},
                          {"QUERIES", keys > 0},
                          {"LENGTHS", static_cast<bool>(row_lengths)},
                          {"KEY_LENGTHS", static_cast<bool>(numbers_of_keys)}},
            .args = {{"lengths", optional(row_lengths)},
                     {"key_lengths", optional(numbers_of_keys)},
                     {"rows", checked_u32(rows)},
                     {"per_group", grid.per_group},
                     {"length", checked_u32(x[1])},
                     {"keys", checked_u32(keys)},
                     {"chunks", checked_u32(chunks)},
                     {"length_stride", stride(row_lengths)},
                     {"key_length_stride", stride(numbers_of_keys)}},
            .groups = grid.groups};
}

Dispatch HeadChunks::by_heads(const DeviceTraits& device, const Shape& x, std::int64_t columns, Tensor row_lengths,
                              Tensor numbers_of_keys) const {
    return launch(device, x[0] * x[1] * heads, x, columns, row_lengths, numbers_of_keys);
}

Dispatch HeadChunks::by_matrices(const DeviceTraits& device, const Shape& x, std::int64_t columns, Tensor row_lengths,
                                 Tensor numbers_of_keys) const {
    return launch(device, x[0] * heads * chunks * chunk, x, columns, row_lengths, numbers_of_keys);
}

}  // namespace vkf
