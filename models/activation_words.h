// What activations are called in configurations: Hugging Face's words.
#pragma once

#include <utility>

#include "ops/activation.h"

namespace vkf {

inline constexpr std::pair<const char*, Activation> activation_words[] = {{"gelu", Activation::gelu},
                                                                          {"gelu_new", Activation::gelu_tanh},
                                                                          {"relu", Activation::relu},
                                                                          {"silu", Activation::silu}};

}  // namespace vkf
