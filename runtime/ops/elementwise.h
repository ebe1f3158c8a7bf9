// Ops whose every element depends on the same element of their inputs only: a few steps of one kernel each, and
// several that follow each other make one op.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/activation.h"

namespace vkf {

/// One step, of which shaders/lib/elementwise.glsl knows the same kinds by the same numbers. Its operands a and b are
/// inputs, by their place, or what earlier steps made: `first_step` + the step's place.
struct ElementStep {
    enum class Kind : std::uint32_t { add, sub, mul, div, scale, fill, activate, slope, dropout };
    static constexpr std::uint32_t first_step = 6;

    Kind kind;
    std::uint32_t a = 0, b = 0;
    Activation activation = Activation::none;  // activate: of a; slope: its derivative at a, times b
    float number = 0.0f;                       // the factor of scale, the value of fill, the rate of dropout
    std::uint32_t salt = 0;                    // of dropout
};

/// The last step's value, [...]. Inputs may be broadcast (ops/broadcast.h), along at most 6 axes that are not one. If a
/// step drops, the last input is the seed, i32[2]; it is no operand.
class ElementwiseOp : public Op {
public:
    explicit ElementwiseOp(std::vector<ElementStep> steps) : steps_(std::move(steps)) {}

    bool reference(std::span<const Array> in, std::span<Array> out) const override;
    void lower(Lowering&) const override;
    /// A factor of a product that is broadcast, such as a row's statistic, does not widen it.
    KernelTraits kernel_traits(std::span<const Tensor> in) const override;
    bool may_alias(std::size_t output, std::size_t input) const override;

    const std::vector<ElementStep>& steps() const { return steps_; }
    bool drops() const;

private:
    std::vector<ElementStep> steps_;
};

/// Two elementwise nodes, the first of which makes an input of the second, as one in the second's place; nullopt where
/// no kernel can do the work of both.
std::optional<Node> fused(const Node& maker, const Node& reader);

}  // namespace vkf
