#include "ops/elementwise/glu.h"

#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

OpCase gated(std::string name, Activation kind, Operand gate, Operand up) {
    const bool small = gate.type.shape.elements() < 1000;
    return {.name = std::move(name),
            .operands = {std::move(gate), std::move(up)},
            .build = [kind](Inputs in) { return std::vector{glu(in[0], in[1], kind)}; },
            .finite_differences = small};
}

}  // namespace

std::vector<OpCase> glu_cases() {
    return {
        gated("one", Activation::silu, normal({1}), normal({1})),
        gated("swiglu", Activation::silu, normal({7, 19}, 3.0), normal({7, 19})),
        gated("swiglu of many", Activation::silu, normal({4, 1031}, 3.0), normal({4, 1031})),
        gated("geglu", Activation::gelu, normal({7, 20}, 2.0), normal({7, 20})),
        gated("geglu by tanh", Activation::gelu_tanh, normal({3, 11}, 2.0), normal({3, 11})),
        gated("reglu", Activation::relu, normal({3, 11}), normal({3, 11})),
        gated("bilinear", Activation::none, normal({3, 11}), normal({3, 11})),
        gated("slices", Activation::silu, padded({5, 9}, 3), padded({5, 9}, 9)),
        gated("a gate alone", Activation::silu, normal({5, 9}), fixed({5, 9})),
        {"of one product",
         {normal({5, 9})},
         [](Inputs in) { return std::vector{glu(in[0], in[0], Activation::silu)}; }},
    };
}

}  // namespace vkf::checks
