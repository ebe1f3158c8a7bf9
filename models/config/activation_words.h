// Names of activations in configurations: Hugging Face's words. The first word of an activation is the one written.
#pragma once

#include <utility>

#include "ops/elementwise/activation.h"

namespace vkf {

inline constexpr std::pair<const char*, Activation> activation_words[] = {
    {"gelu", Activation::gelu}, {"gelu_new", Activation::gelu_tanh},          {"relu", Activation::relu},
    {"silu", Activation::silu}, {"gelu_pytorch_tanh", Activation::gelu_tanh}, {"swish", Activation::silu}};

}  // namespace vkf
