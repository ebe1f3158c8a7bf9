// Mean cross-entropy of rows of logits with a weight for every class, for smoothed and mixed labels.
#include "ops/loss/soft_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/rows/policy.h"
#include "ops/rows/reduce.h"
#include "ops/rows/softmax.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// The loss of each row.
class SoftCrossEntropyOp : public Op {
public:
    std::string_view name() const override { return "soft_cross_entropy"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0].shape.rank() > 0, "wants logits f32[..., V], not ", in[0]);
        require(in[1] == in[0], "logits are ", in[0], ", targets ", in[1]);
        return {{DType::f32, in[0].shape.with_width(1)}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        for (std::size_t row = 0; row < out[0].at.size(); ++row) {
            const double *x = in[0].at.data() + row * width, *t = in[1].at.data() + row * width;
            const double top = *std::max_element(x, x + width);
            double sum = 0;
            for (std::size_t j = 0; j < width; ++j) sum += std::exp(x[j] - top);
            for (std::size_t j = 0; j < width; ++j) out[0].at[row] += t[j] * (std::log(sum) - (x[j] - top));
        }
        return true;
    }

    /// d_x = (softmax(x) · Σ t − t) · d_row. Targets are data.
    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.wanted[1], "targets have no derivative");
        const Tensor x = at.in[0], t = at.in[1];
        return std::vector{mul(sub(mul(softmax(x), row_sum(t)), t), at.d_out[0]), Tensor()};
    }

    void lower(Lowering& lowering) const override {
        const Tensor logits = lowering.in[0], targets = lowering.in[1];
        const RowSweep grid = row_sweep(lowering.device, logits.rows(), logits.width());
        lowering.dispatch({.kernel = "soft_cross_entropy",
                           .constants = {{"GROUP", grid.group},
                                         {"BLOCK", pairs_per_block(grid.group, logits.width())},
                                         {"LAYOUT", vector_layout(logits)},
                                         {"LAYOUT_TARGETS", vector_layout(targets)}},
                           .args = {{"logits", logits},
                                    {"targets", targets},
                                    {"row_loss", lowering.out[0]},
                                    {"rows", checked_u32(logits.rows())},
                                    {"width", checked_u32(logits.width())},
                                    {"pitch", checked_u32(logits.pitch())},
                                    {"target_pitch", checked_u32(targets.pitch())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = 24.0 * static_cast<double>(logits.elements()),
                           .bytes = 12.0 * static_cast<double>(logits.elements())});
    }
};

}  // namespace

Tensor soft_cross_entropy(Tensor logits, Tensor targets) {
    const Tensor losses = add_one(logits.graph(), SoftCrossEntropyOp(), {logits, targets});
    return scale(sum_to(losses, {}), 1.0f / static_cast<float>(losses.elements()));
}

}  // namespace vkf
