// Names of activations in configurations: Hugging Face's words, and PyTorch's hardswish. The first word of an
// activation is the one written.
#pragma once

#include <utility>

#include "ops/elementwise/activation.h"

namespace vkf {

inline constexpr std::pair<const char*, Activation> activation_words[] = {
    {"gelu", Activation::gelu},          {"gelu_new", Activation::gelu_tanh},          {"relu", Activation::relu},
    {"silu", Activation::silu},          {"gelu_pytorch_tanh", Activation::gelu_tanh}, {"swish", Activation::silu},
    {"hardswish", Activation::hardswish}};

}  // namespace vkf
