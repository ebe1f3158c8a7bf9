// Rows of heads, [B, T, H·D], as rows of matrices that batched products read.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/op.h"
#include "ops/attention/attention_mask.h"

namespace vkf {

/// Cut of sequences into chunks of positions. There is a matrix for each batch row, group of `sharing` heads and chunk,
/// in this order. Its row s·chunk + l has head s of the group at the chunk's position l. Rows without a position, and
/// positions without a row, have no partner.
struct HeadChunks {
    std::int64_t heads = 1;    // H
    std::int64_t sharing = 1;  // heads in one matrix, a divisor of H: the query heads that share a key head
    std::int64_t chunk = 1;    // positions of a chunk
    std::int64_t chunks = 1;
    /// 0: row i has position i. Else the rows are queries of so many keys, and the last row that counts has the
    /// position of the last key that counts.
    std::int64_t keys = 0;
    Tensor lengths = {};      // rows that count: i32[B], i32[1], or absent if all do
    Tensor key_lengths = {};  // likewise; only with `keys`

    /// Type of the matrices of x, [B, T, H·D], with `columns` columns.
    TensorType matrices(const TensorType& x, std::int64_t columns) const;

    /// Throws InputError if rows [B, T, H·D] do not fit.
    void check(const TensorType& x, const TensorType& lengths, const TensorType& key_lengths) const;

    /// Number of the matrices' row, counted through all matrices, for head h of row i; empty if there is none. `rows`
    /// is counted(…) for batch row b.
    std::optional<std::int64_t> matrix_row(const MaskRow& rows, std::int64_t b, std::int64_t i, std::int64_t h) const;
    MaskRow counted(std::int64_t length, std::int64_t b, const Array& lengths, const Array& key_lengths) const;

    /// Launch of a kernel with linear_attention/head_chunks.glsl that takes each row of the heads [B, T, H·D], or each
    /// row of the matrices. Its own arguments and constants are still to be added.
    Dispatch by_heads(const DeviceTraits& device, const Shape& heads, std::int64_t columns, Tensor lengths,
                      Tensor key_lengths) const;
    Dispatch by_matrices(const DeviceTraits& device, const Shape& heads, std::int64_t columns, Tensor lengths,
                         Tensor key_lengths) const;

private:
    Dispatch launch(const DeviceTraits& device, std::int64_t rows, const Shape& heads, std::int64_t columns,
                    Tensor lengths, Tensor key_lengths) const;
};

}  // namespace vkf
