// Rotary position embedding; its derivative is the inverse rotation.
#include "ops/attention/rope.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/attention/attention_tiling.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Rotated queries and keys from (queries, keys, table, positions). Keys may be absent; absent positions are 0, 1, …
class RopeOp : public Op {
    enum Operand : std::size_t { queries, keys, angles, places };

public:
    explicit RopeOp(bool clockwise) : clockwise_(clockwise) {}

    std::string_view name() const override { return clockwise_ ? "rope_clockwise" : "rope"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType absent{DType::f32, {0}}, &x = in[queries], &table = in[angles], &positions = in[places];
        require(table.dtype == DType::f32 && table.shape.rank() == 2, "the table is ", table, ", wanted a row of a ",
                "head's width for each position");
        const auto check = [&](const TensorType& type) {
            require(type.dtype == DType::f32 && type.shape.rank() == 3, "x is ", type, ", wanted f32[B, T, heads·D]");
            require(type.shape.width() % table.shape.width() == 0, "cannot cut ", type,
                    " into heads as wide as the table ", table);
        };
        check(x);
        if (in[keys] != absent) {
            check(in[keys]);
            require(in[keys].shape[0] == x.shape[0] && in[keys].shape[1] == x.shape[1], "queries are ", x, ", keys ",
                    in[keys]);
        }
        const std::int64_t length = x.shape[1];
        if (positions == absent)
            require(length <= table.shape[0], length, " positions, and a table of ", table.shape[0]);
        else
            require(positions.dtype == DType::i32 &&
                        (positions.shape == Shape{length} || positions.shape == Shape{x.shape[0], length}),
                    "positions are ", positions, " of ", x, ", wanted i32[", length, "] or i32[", x.shape[0], ", ",
                    length, "]");
        return in[keys] == absent ? std::vector{x} : std::vector{x, in[keys]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t k = 0; k < out.size(); ++k) turn(in[k], in[angles], in[places], out[k]);
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.wanted[angles], "rope has no derivative by its table");
        const RopeOptions back{.clockwise = !clockwise_, .positions = at.in[places]};
        const Tensor d_q = at.d_out[queries], d_k = at.in[keys] ? at.d_out[keys] : Tensor();
        std::vector<Tensor> d_in(at.in.size());
        if (d_q && d_k) {
            const auto [q, k] = rope(d_q, d_k, at.in[angles], back);
            d_in[queries] = q;
            d_in[keys] = k;
        } else if (d_q) {
            d_in[queries] = rope(d_q, at.in[angles], back);
        } else if (d_k) {
            d_in[keys] = rope(d_k, at.in[angles], back);
        }
        return d_in;
    }

    void lower(Lowering& lowering) const override {
        const Tensor q = lowering.in[queries], k = lowering.in[keys], table = lowering.in[angles],
                     positions = lowering.in[places];
        const Tensor q_turned = lowering.out[queries], k_turned = k ? lowering.out[keys] : Tensor();
        const std::int64_t half = table.width() / 2, pairs = (half + 1) / 2;
        const auto heads_of = [&](Tensor x) { return x ? x.width() / table.width() : 0; };
        const std::int64_t heads = heads_of(q) + heads_of(k);
        const RowSweep grid = row_sweep(lowering.device, q.rows(), heads * pairs);
        const std::int64_t abreast = heads_abreast(lowering.device, grid.group, pairs, heads);
        const auto layout = [&](Tensor x) { return vector_layout(x, half % 2 == 0 && x && even(x)); };
        const auto optional = [](Tensor x) { return x ? ArgValue(x) : ArgValue(); };
        const auto pitch = [](Tensor x) { return checked_u32(x ? x.pitch() : 0); };
        const auto elements = static_cast<double>(q.rows() * heads * table.width());
        lowering.dispatch({.kernel = "rope",
                           .constants = {{"GROUP", grid.group},
                                         {"HEADS", checked_u32(heads_of(q))},
                                         {"K_HEADS", checked_u32(heads_of(k))},
                                         {"HALF", checked_u32(half)},
                                         {"ABREAST", checked_u32(abreast)},
                                         {"CLOCKWISE", clockwise_},
                                         {"GIVEN", static_cast<bool>(positions)},
                                         {"LAYOUT_Q", layout(q)},
                                         {"LAYOUT_K", layout(k)},
                                         {"LAYOUT_Q_TURNED", layout(q_turned)},
                                         {"LAYOUT_K_TURNED", layout(k_turned)},
                                         {"LAYOUT_TABLE", layout(table)}},
                           .args = {{"q", q},
                                    {"k", optional(k)},
                                    {"table", table},
                                    {"positions", optional(positions)},
                                    {"q_turned", q_turned},
                                    {"k_turned", optional(k_turned)},
                                    {"rows", checked_u32(q.rows())},
                                    {"position_count", checked_u32(positions ? positions.elements() : q.shape()[1])},
                                    {"table_rows", checked_u32(table.rows())},
                                    {"q_pitch", pitch(q)},
                                    {"k_pitch", pitch(k)},
                                    {"q_turned_pitch", pitch(q_turned)},
                                    {"k_turned_pitch", pitch(k_turned)},
                                    {"table_pitch", pitch(table)},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 3.0 * elements,
                           .bytes = 8.0 * elements +
                                    4.0 * static_cast<double>(std::min(q.shape()[1], table.rows()) * table.width())});
    }

    bool may_alias(std::size_t output, std::size_t input) const override { return input == output; }
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        const std::uint32_t both = 1u << queries | 1u << keys, half = in[angles].width() % 4 == 0 ? both : 0;
        return {.half_in = half, .half_out = half, .widening = both, .strided_outputs = both};
    }

private:
    void turn(const Array& x, const Array& table, const Array& positions, Array& y) const {
        const auto width = static_cast<std::size_t>(table.shape.width()), half = width / 2;
        const auto row_width = static_cast<std::size_t>(x.shape.width());
        const auto length = static_cast<std::size_t>(x.shape[1]);
        for (std::size_t i = 0; i < x.at.size(); ++i) {
            if (i % width >= half) continue;
            const std::size_t row = i / row_width;
            const double position =
                positions.at.empty() ? static_cast<double>(row % length) : positions.at[row % positions.at.size()];
            const double last = static_cast<double>(table.shape[0] - 1);
            const std::size_t at = static_cast<std::size_t>(std::clamp(position, 0.0, last)) * width + i % width;
            const double cosine = table.at[at], sine = clockwise_ ? -table.at[at + half] : table.at[at + half];
            y.at[i] = x.at[i] * cosine - x.at[i + half] * sine;
            y.at[i + half] = x.at[i + half] * cosine + x.at[i] * sine;
        }
    }

    bool clockwise_;
};

std::vector<Tensor> turned(Tensor q, Tensor k, Tensor table, const RopeOptions& options) {
    const Tensor positions = options.positions ? contiguous(options.positions) : Tensor();
    return q.graph().add(std::make_shared<const RopeOp>(options.clockwise), {q, k, table, positions});
}

}  // namespace

Tensor rope_table(Graph& graph, std::span<const double> frequencies, std::int64_t positions) {
    std::vector<float> table;
    table.reserve(2 * frequencies.size() * static_cast<std::size_t>(positions));
    for (std::int64_t p = 0; p < positions; ++p) {
        for (const double f : frequencies) table.push_back(static_cast<float>(std::cos(static_cast<double>(p) * f)));
        for (const double f : frequencies) table.push_back(static_cast<float>(std::sin(static_cast<double>(p) * f)));
    }
    return graph.constant({positions, 2 * std::ssize(frequencies)}, table);
}

Tensor rope(Tensor x, Tensor table, const RopeOptions& options) {
    return turned(x, Tensor(), table, options)[0];
}

std::array<Tensor, 2> rope(Tensor q, Tensor k, Tensor table, const RopeOptions& options) {
    const std::vector<Tensor> y = turned(q, k, table, options);
    return {y[0], y[1]};
}

}  // namespace vkf
