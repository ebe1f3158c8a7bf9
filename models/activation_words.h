// What activations are called in configurations: Hugging Face's words. The first for an activation is what is written.
#pragma once

#include <utility>

#include "ops/activation.h"

namespace vkf {

inline constexpr std::pair<const char*, Activation> activation_words[] = {
    {"gelu", Activation::gelu}, {"gelu_new", Activation::gelu_tanh},          {"relu", Activation::relu},
    {"silu", Activation::silu}, {"gelu_pytorch_tanh", Activation::gelu_tanh}, {"swish", Activation::silu}};

}  // namespace vkf
