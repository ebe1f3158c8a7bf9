// Mean cross-entropy of rows of logits against one target each, and its derivative.
#include "ops/loss/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Target column of a row; nullopt if it has none.
std::optional<std::size_t> target_column(double target, std::int64_t width) {
    if (target < 0) return std::nullopt;
    return static_cast<std::size_t>(std::min(static_cast<std::int64_t>(target), width - 1));
}

/// Inputs: logits, targets, top, inverse, count (all as saved) and d_loss.
class CrossEntropyBackwardOp : public Op {
public:
    std::string_view name() const override { return "cross_entropy_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[0]}; }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        for (std::size_t row = 0; row < in[1].at.size(); ++row) {
            const auto target = target_column(in[1].at[row], in[0].shape.width());
            if (!target) continue;
            const double each = in[5].at[0] / in[4].at[0];
            for (std::size_t j = 0; j < width; ++j) {
                const std::size_t at = row * width + j;
                const double p = std::exp(in[0].at[at] - in[2].at[row]) * in[3].at[row];
                out[0].at[at] = (p - (j == *target ? 1.0 : 0.0)) * each;
            }
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor logits = lowering.in[0];
        const RowSweep grid = row_sweep(lowering.device, logits.rows(), logits.width());
        lowering.dispatch({.kernel = "cross_entropy_backward",
                           .constants = {{"GROUP", grid.group}, {"LAYOUT", vector_layout_of_any_rows(logits)}},
                           .args = {{"logits", logits},
                                    {"targets", lowering.in[1]},
                                    {"top", lowering.in[2]},
                                    {"inverse", lowering.in[3]},
                                    {"count", lowering.in[4]},
                                    {"d_loss", lowering.in[5]},
                                    {"d_logits", lowering.out[0]},
                                    {"rows", checked_u32(logits.rows())},
                                    {"width", checked_u32(logits.width())},
                                    {"pitch", checked_u32(logits.pitch())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 20.0 * static_cast<double>(logits.elements()),
                           .bytes = 8.0 * static_cast<double>(logits.elements())});
    }

    bool may_alias(std::size_t, std::size_t input) const override { return input == 0; }
};

/// Outputs: loss; for the derivative, top and inverse per row and the number of rows with a target.
class CrossEntropyOp : public Op {
public:
    std::string_view name() const override { return "cross_entropy"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const auto leading = in[0].shape.extents();
        require(in[0].dtype == DType::f32 && !leading.empty(), "wants logits f32[..., V], not ", in[0]);
        require(
            in[1].dtype == DType::i32 && std::ranges::equal(leading.first(leading.size() - 1), in[1].shape.extents()),
            "logits are ", in[0], ", targets ", in[1], "; wanted one i32 target per row");
        const TensorType scalar{DType::f32, {}}, per_row{DType::f32, {in[0].shape.rows()}};
        return {scalar, per_row, per_row, scalar};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        double& loss = out[0].at[0];
        double& count = out[3].at[0];
        for (std::size_t row = 0; row < in[1].at.size(); ++row) {
            const auto target = target_column(in[1].at[row], in[0].shape.width());
            if (!target) continue;
            const double* x = in[0].at.data() + row * width;
            const double top = *std::max_element(x, x + width);
            double sum = 0;
            for (std::size_t j = 0; j < width; ++j) sum += std::exp(x[j] - top);
            out[1].at[row] = top;
            out[2].at[row] = 1 / sum;
            loss += std::log(sum) - (x[*target] - top);
            count += 1;
        }
        if (count > 0) loss /= count;
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{add_one(at.in[0].graph(), CrossEntropyBackwardOp(),
                                   {at.in[0], at.in[1], at.out[1], at.out[2], at.out[3], at.d_out[0]}),
                           Tensor()};
    }

    void lower(Lowering& lowering) const override {
        const Tensor logits = lowering.in[0];
        const RowSweep grid = row_sweep(lowering.device, logits.rows(), logits.width());
        const Scratch row_loss = lowering.scratch(logits.rows());
        lowering.dispatch({.kernel = "cross_entropy",
                           .constants = {{"GROUP", grid.group},
                                         {"BLOCK", pairs_per_block(grid.group, logits.width())},
                                         {"LAYOUT", vector_layout_of_any_rows(logits)}},
                           .args = {{"logits", logits},
                                    {"targets", lowering.in[1]},
                                    {"row_loss", row_loss},
                                    {"top", lowering.out[1]},
                                    {"inverse", lowering.out[2]},
                                    {"rows", checked_u32(logits.rows())},
                                    {"width", checked_u32(logits.width())},
                                    {"pitch", checked_u32(logits.pitch())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 20.0 * static_cast<double>(logits.elements()),
                           .bytes = 4.0 * static_cast<double>(logits.elements())});
        lowering.dispatch({.kernel = "cross_entropy_mean",
                           .constants = {{"GROUP", row_group(lowering.device, logits.rows())}},
                           .args = {{"row_loss", row_loss},
                                    {"targets", lowering.in[1]},
                                    {"loss", lowering.out[0]},
                                    {"count", lowering.out[3]},
                                    {"rows", checked_u32(logits.rows())}},
                           .bytes = 8.0 * static_cast<double>(logits.rows())});
    }
};

}  // namespace

Tensor cross_entropy(Tensor logits, Tensor targets) {
    return logits.graph().add(std::make_shared<const CrossEntropyOp>(), {logits, contiguous(targets)}).front();
}

}  // namespace vkf
