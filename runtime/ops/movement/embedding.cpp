// Rows of a table by index, and the table's gradient, summed in the order of the rows.
#include "ops/movement/embedding.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/error.h"
#include "ops/movement/policy.h"
#include "ops/movement/radix_sort.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"

namespace vkf {

namespace {

std::size_t table_row(double index, std::int64_t vocabulary) {
    return static_cast<std::size_t>(std::clamp(static_cast<std::int64_t>(index), std::int64_t{0}, vocabulary - 1));
}

class EmbeddingBackwardOp : public Op {
public:
    explicit EmbeddingBackwardOp(Shape table) : table_(std::move(table)) {}

    std::string_view name() const override { return "embedding_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[1].shape.width() == table_.width() && in[1].shape.rows() == in[0].shape.elements(), "indices are ",
                in[0], ", the gradient of their rows ", in[1], ", the table ", table_);
        return {{DType::f32, table_}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(table_.width());
        for (std::size_t i = 0; i < in[1].at.size(); ++i)
            out[0].at[table_row(in[0].at[i / width], table_[0]) * width + i % width] += in[1].at[i];
        return true;
    }

    void lower(Lowering& lowering) const override {
        if (embedding_gradient(lowering.device) == EmbeddingGradient::chains)
            lower_to_chains(lowering);
        else
            lower_to_sorted_rows(lowering);
    }

private:
    /// One workgroup links the rows of each index to chains, others add up whole chains: little to start, but one row
    /// after the other.
    void lower_to_chains(Lowering& lowering) const {
        const Tensor indices = lowering.in[0], d_y = lowering.in[1], d_table = lowering.out[0];
        const std::int64_t rows = d_y.rows(), width = d_y.width(), vocabulary = table_[0];
        const Scratch head = lowering.scratch(vocabulary), next = lowering.scratch(rows);
        // Each invocation walks all rows, so there is only one workgroup.
        const std::uint32_t walkers = lowering.device.subgroup_size;
        lowering.dispatch({.kernel = "embedding_chain",
                           .constants = {{"GROUP", walkers}},
                           .args = {{"indices", indices},
                                    {"head", head},
                                    {"next", next},
                                    {"rows", checked_u32(rows)},
                                    {"vocabulary", checked_u32(vocabulary)},
                                    {"lanes", std::bit_floor(walkers)}},
                           .bytes = 4.0 * static_cast<double>(vocabulary + 2 * rows)});
        const Columns columns = cut_columns(lowering.device, width, 32);
        // Frequent indices are often neighbours: a stride spreads them over the groups.
        const std::int64_t groups = std::min<std::int64_t>(vocabulary, lowering.device.compute_units * 8);
        lowering.dispatch({.kernel = "embedding_backward",
                           .constants = {{"GROUP", columns.group}, {"COLUMNS", columns.per_lane}},
                           .args = {{"head", head},
                                    {"next", next},
                                    {"d_y", d_y},
                                    {"d_table", d_table},
                                    {"rows", checked_u32(rows)},
                                    {"width", checked_u32(width)},
                                    {"vocabulary", checked_u32(vocabulary)},
                                    {"groups", checked_u32(groups)}},
                           .groups = static_cast<std::uint64_t>(groups),
                           .flops = static_cast<double>(d_y.elements()),
                           .bytes = 4.0 * static_cast<double>(d_y.elements() + d_table.elements())});
    }

    /// Sorts rows by index: many workgroups add up the rows of a frequent index, a chunk each.
    void lower_to_sorted_rows(Lowering& lowering) const {
        constexpr std::int64_t chunk = 64, most_per_group = 32;
        const Tensor indices = lowering.in[0], d_y = lowering.in[1], d_table = lowering.out[0];
        const std::int64_t rows = d_y.rows(), width = d_y.width(), vocabulary = table_[0], chunks = rows / chunk;
        const Scratch order = sort_by_key(lowering, indices, rows, vocabulary);
        const Columns columns = cut_columns(lowering.device, width, 8);
        const auto launch = [&](std::string kernel, Args args, std::int64_t groups, double bytes) {
            args.insert(args.end(), {{"indices", indices},
                                     {"order", order},
                                     {"d_y", d_y},
                                     {"rows", checked_u32(rows)},
                                     {"width", checked_u32(width)},
                                     {"vocabulary", checked_u32(vocabulary)}});
            lowering.dispatch(
                {.kernel = std::move(kernel),
                 .constants = {{"GROUP", columns.group}, {"COLUMNS", columns.per_lane}, {"CHUNK", checked_u32(chunk)}},
                 .args = std::move(args),
                 .groups = static_cast<std::uint64_t>(groups),
                 .flops = static_cast<double>(d_y.elements()),
                 .bytes = bytes});
        };
        ArgValue partial;
        if (chunks > 0) {
            partial = lowering.scratch(chunks * width);
            launch("embedding_chunk_sum", {{"partial", partial}}, chunks, 4.0 * static_cast<double>(d_y.elements()));
        }
        const std::int64_t wanted = std::int64_t{lowering.device.compute_units} * 8;
        const std::int64_t per_group = std::clamp<std::int64_t>(vocabulary / wanted, 1, most_per_group);
        launch("embedding_sorted_backward",
               {{"partial", partial}, {"d_table", d_table}, {"per_group", checked_u32(per_group)}},
               (vocabulary + per_group - 1) / per_group,
               4.0 * static_cast<double>(d_y.elements() + d_table.elements()));
    }

    /// Width of workgroups, at most a row's, and number of columns that a lane has at a time.
    struct Columns {
        std::uint32_t group, per_lane;
    };
    static Columns cut_columns(const DeviceTraits& device, std::int64_t width, std::int64_t most) {
        const std::uint32_t group = row_group(device, width);
        const std::int64_t chunks = (width + group - 1) / group, sweeps = (chunks + most - 1) / most;
        return {group, checked_u32((chunks + sweeps - 1) / sweeps)};
    }

    Shape table_;
};

class EmbeddingOp : public Op {
public:
    std::string_view name() const override { return "embedding"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0].shape.rank() == 2, "wants a table f32[V, C], not ", in[0]);
        require(in[1].dtype == DType::i32, "wants i32 indices, not ", in[1]);
        std::vector<std::int64_t> extents(in[1].shape.extents().begin(), in[1].shape.extents().end());
        extents.push_back(in[0].shape.width());
        return {{DType::f32, Shape(std::move(extents))}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        for (std::size_t i = 0; i < out[0].at.size(); ++i)
            out[0].at[i] = in[0].at[table_row(in[1].at[i / width], in[0].shape[0]) * width + i % width];
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        if (!at.wanted[0]) return std::vector<Tensor>(2);
        return std::vector{
            add_one(at.in[0].graph(), EmbeddingBackwardOp(at.in[0].shape()), {at.in[1], contiguous(at.d_out[0])}),
            Tensor()};
    }

    void lower(Lowering& lowering) const override {
        const Tensor table = lowering.in[0], y = lowering.out[0];
        const RowSweep grid = row_sweep(lowering.device, y.rows(), y.width());
        lowering.dispatch({.kernel = "embedding",
                           .constants = {{"GROUP", grid.group}},
                           .args = {{"table", table},
                                    {"indices", lowering.in[1]},
                                    {"y", y},
                                    {"rows", checked_u32(y.rows())},
                                    {"width", checked_u32(y.width())},
                                    {"vocabulary", checked_u32(table.rows())},
                                    {"table_pitch", checked_u32(table.pitch())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .bytes = 8.0 * static_cast<double>(y.elements())});
    }
};

}  // namespace

Tensor embedding(Tensor table, Tensor indices) {
    return add_one(table.graph(), EmbeddingOp(), {table, contiguous(indices)});
}

}  // namespace vkf
