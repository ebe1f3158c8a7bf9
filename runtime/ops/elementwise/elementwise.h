// Elementwise ops: an element depends only on the same element of the inputs. An op is a few steps of one kernel, and
// consecutive ops are fused into one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// One step. Kinds are numbered as in shaders/elementwise/elementwise.glsl. Operands a and b are indices of inputs, or
/// `first_step` + the index of an earlier step.
struct ElementStep {
    enum class Kind : std::uint32_t { add, sub, mul, div, scale, fill, activate, slope, dropout };
    static constexpr std::uint32_t first_step = 6;

    Kind kind;
    std::uint32_t a = 0, b = 0;
    Activation activation = Activation::none;  // activate: applied to a; slope: its derivative at a, times b
    float number = 0.0f;                       // the factor of scale, the value of fill, the rate of dropout
    std::uint32_t salt = 0;                    // for dropout
};

/// Value of the last step, [...]. Inputs may be broadcast (ops/elementwise/broadcast.h), with at most 6 axes that
/// cannot be merged. If a step is a dropout, the last input is the seed, i32[2], which is no operand.
class ElementwiseOp : public Op {
public:
    explicit ElementwiseOp(std::vector<ElementStep> steps) : steps_(std::move(steps)) {}

    bool reference(std::span<const Array> in, std::span<Array> out) const override;
    void lower(Lowering&) const override;
    /// A broadcast factor of a product, such as a row's statistic, does not widen the product.
    KernelTraits kernel_traits(std::span<const Tensor> in) const override;
    bool may_alias(std::size_t output, std::size_t input) const override;

    const std::vector<ElementStep>& steps() const { return steps_; }
    bool drops() const;

private:
    std::vector<ElementStep> steps_;
};

/// Elementwise node that replaces `reader` and computes its input from `maker` itself; nullopt where no kernel can do
/// the work of both.
std::optional<Node> fused(const Node& maker, const Node& reader);

}  // namespace vkf
