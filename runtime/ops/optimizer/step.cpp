#include "ops/optimizer/step.h"

#include <cmath>

#include "ops/optimizer/optimizers.h"
#include "ops/vector_layout.h"

namespace vkf {

std::array<float, 4> step_rates(double rate, double beta1, double beta2, std::int64_t step) {
    require(step >= 1, "optimiser steps count from 1, not ", step);
    const double corrected1 = 1 - std::pow(beta1, static_cast<double>(step));
    const double corrected2 = 1 - std::pow(beta2, static_cast<double>(step));
    return {static_cast<float>(rate), static_cast<float>(rate / corrected1), static_cast<float>(1 / corrected2),
            static_cast<float>(1 / std::sqrt(corrected2))};
}

std::vector<TensorType> OptimizerOp::infer(std::span<const TensorType> in) const {
    std::vector<TensorType> out;
    for (std::size_t i = 0; i < slots(); ++i) {
        const TensorType& parameter = in[4 * i];
        require(parameter.dtype == DType::f32, "a parameter is ", parameter);
        require(in[4 * i + 1] == parameter, "the gradient of ", parameter, " is ", in[4 * i + 1]);
        out.push_back(parameter);
        for (std::size_t k = 1; k < outputs(); ++k) {
            require(in[4 * i + 1 + k] == parameter, "a moment of ", parameter, " is ", in[4 * i + 1 + k]);
            out.push_back(parameter);
        }
    }
    require(rates(in) == TensorType{DType::f32, {4}}, "rates are ", rates(in), ", wanted f32[4]");
    const TensorType& factor = in.back();
    require(factor.dtype == DType::f32 && factor.shape.elements() <= 1, "the clip factor is ", factor,
            ", wanted f32[]");
    return out;
}

std::optional<std::size_t> OptimizerOp::updates(std::size_t output) const {
    const std::size_t which = output % outputs();
    return 4 * (output / outputs()) + (which == 0 ? 0 : which + 1);
}

bool OptimizerOp::skipped(std::span<const Array> in, std::span<Array> out) const {
    if (!(clip(in) < 0)) return false;  // NaN must show
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = in[*updates(k)];
    return true;
}

Dispatch OptimizerOp::launch(const Lowering& lowering, std::string_view kernel, const TensorChunks& parts, Table rows,
                             double flops, double bytes) const {
    const Tensor factor = lowering.in.back();
    return {.kernel = std::string(kernel),
            .constants = {{"GROUP", parts.group},
                          {"LAYOUT", vector_layout(lowering.in)},
                          {"CLIPPED", static_cast<bool>(factor)}},
            .args = {{"rows", std::move(rows)}, {"parts", parts.table()}, {"groups", parts.groups()}, {"clip", factor}},
            .groups = parts.groups(),
            .flops = flops * parts.elements,
            .bytes = bytes * parts.elements};
}

std::vector<Tensor> OptimizerOp::all(std::span<const Tensor> in, std::size_t which) const {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < slots(); ++i) tensors.push_back(in[4 * i + which]);
    return tensors;
}

}  // namespace vkf
