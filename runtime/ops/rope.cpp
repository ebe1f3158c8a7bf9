// Rotary position embedding, whose derivative is the rotation back.
#include "ops/rope.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/rows.h"
#include "ops/vector_layout.h"
#include "ops/view.h"

namespace vkf {

namespace {

/// Of x, the table and, unless they are counted, positions.
class RopeOp : public Op {
public:
    RopeOp(std::int64_t heads, bool clockwise) : heads_(heads), clockwise_(clockwise) {}

    std::string_view name() const override { return clockwise_ ? "rope_clockwise" : "rope"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &x = in[0].shape, &table = in[1].shape, &positions = in[2].shape;
        require(in[0].dtype == DType::f32 && x.rank() == 3, "x is ", in[0], ", wanted f32[B, T, heads·D]");
        require(heads_ > 0 && x.width() % (2 * heads_) == 0, "cannot cut ", in[0], " into ", heads_,
                " heads of even width");
        require(in[1].dtype == DType::f32 && table.rank() == 2 && table.width() == x.width() / heads_, "the table is ",
                in[1], ", wanted rows of ", x.width() / heads_, ", as wide as a head of ", in[0]);
        const bool counted = in[2] == TensorType{DType::f32, {0}};
        if (counted)
            require(x[1] <= table[0], x[1], " positions, and a table of ", table[0]);
        else
            require(in[2].dtype == DType::i32 && (positions == Shape{x[1]} || positions == Shape{x[0], x[1]}),
                    "positions are ", in[2], " of ", in[0], ", wanted i32[", x[1], "] or i32[", x[0], ", ", x[1], "]");
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Array &x = in[0], &table = in[1], &positions = in[2];
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
            out[0].at[i] = x.at[i] * cosine - x.at[i + half] * sine;
            out[0].at[i + half] = x.at[i + half] * cosine + x.at[i] * sine;
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.wanted[1], "rope has no derivative by its table");
        return std::vector{add_one(at.in[0].graph(), RopeOp(heads_, !clockwise_), {at.d_out[0], at.in[1], at.in[2]}),
                           Tensor(), Tensor()};
    }

    void lower(Lowering& to) const override {
        const Tensor x = to.in[0], table = to.in[1], positions = to.in[2], y = to.out[0];
        const std::int64_t half = table.width() / 2, pairs = (half + 1) / 2;
        const RowSweep grid = row_sweep(to.device, x.rows(), heads_ * pairs);
        // On a CPU the angles are loaded once for as many heads as leave no lane idle.
        const std::int64_t abreast = to.device.cpu ? std::clamp<std::int64_t>(grid.group / pairs, 1, heads_) : heads_;
        const auto layout = [&](Tensor tensor) { return vector_layout(tensor, half % 2 == 0 && even(tensor)); };
        to.dispatch({.kernel = "rope",
                     .constants = {{"GROUP", grid.group},
                                   {"HEADS", extent(heads_)},
                                   {"HALF", extent(half)},
                                   {"ABREAST", extent(abreast)},
                                   {"CLOCKWISE", clockwise_},
                                   {"GIVEN", static_cast<bool>(positions)},
                                   {"LAYOUT_X", layout(x)},
                                   {"LAYOUT_Y", layout(y)},
                                   {"LAYOUT_TABLE", layout(table)}},
                     .args = {{"x", x},
                              {"table", table},
                              {"positions", positions ? ArgValue(positions) : ArgValue()},
                              {"y", y},
                              {"rows", extent(x.rows())},
                              {"position_count", extent(positions ? positions.elements() : x.shape()[1])},
                              {"table_rows", extent(table.rows())},
                              {"x_pitch", extent(x.pitch())},
                              {"y_pitch", extent(y.pitch())},
                              {"table_pitch", extent(table.pitch())},
                              {"per_group", grid.per_group}},
                     .groups = grid.groups,
                     .flops = 3.0 * static_cast<double>(x.elements()),
                     .bytes = 8.0 * static_cast<double>(x.elements()) +
                              4.0 * static_cast<double>(std::min(x.shape()[1], table.rows()) * table.width())});
    }

    bool may_alias(std::size_t, std::size_t input) const override { return input == 0; }
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        const bool pairs = in[1].width() % 4 == 0;
        return {.half_in = pairs ? 0b1u : 0, .half_out = pairs ? 0b1u : 0, .widening = 0b1, .strided_outputs = 0b1};
    }

private:
    std::int64_t heads_;
    bool clockwise_;
};

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
    const Tensor positions = options.positions ? contiguous(options.positions) : Tensor();
    return add_one(x.graph(), RopeOp(options.heads, options.clockwise), {x, table, positions});
}

}  // namespace vkf
