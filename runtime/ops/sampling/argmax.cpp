#include "ops/sampling/argmax.h"

#include <cmath>

#include "base/error.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

class ArgmaxOp : public Op {
public:
    std::string_view name() const override { return "argmax"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& x = in[0].shape;
        require(in[0].dtype == DType::f32 && x.rank() > 0 && x.width() > 0, "wants f32[..., C] with C > 0, not ",
                in[0]);
        const auto extents = x.extents().first(x.rank() - 1);
        return {{DType::i32, Shape({extents.begin(), extents.end()})}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        for (std::size_t row = 0; row < out[0].at.size(); ++row) {
            const double* x = in[0].at.data() + row * width;
            std::size_t best = 0;
            for (std::size_t c = 1; c < width; ++c)
                if (!std::isnan(x[best]) && (std::isnan(x[c]) || x[c] > x[best])) best = c;
            out[0].at[row] = static_cast<double>(best);
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        const RowSweep grid = row_sweep(lowering.device, x.rows(), (x.width() + 1) / 2);
        lowering.dispatch({.kernel = "argmax",
                           .constants = {{"GROUP", grid.group}, {"LAYOUT", vector_layout(x)}},
                           .args = {{"x", x},
                                    {"y", lowering.out[0]},
                                    {"rows", checked_u32(x.rows())},
                                    {"width", checked_u32(x.width())},
                                    {"x_pitch", checked_u32(x.pitch())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .flops = static_cast<double>(x.elements()),
                           .bytes = 4.0 * static_cast<double>(x.elements() + x.rows())});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.half_in = 0b1}; }
};

}  // namespace

Tensor argmax(Tensor x) {
    return add_one(x.graph(), ArgmaxOp(), {x});
}

}  // namespace vkf
