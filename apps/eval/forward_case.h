// Inputs of `vkformer forward`: the tensors of a file, as a model of each task takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/scope.h"

namespace vkf {

class Safetensors;
class State;

struct ForwardOptions {
    std::string model, base, input, output;
    bool verify = true;
    bool grads = false, allow_nonfinite = false;
};

/// Contents of the file, and the model's functions of them.
struct ForwardCase {
    std::string input_name, target_name;
    TensorType input_type;
    std::vector<std::int32_t> tokens;  // the input, if it has integers
    std::vector<float> images;         // the input otherwise
    TensorType target_type;
    std::vector<std::int32_t> targets;  // empty if absent
    std::function<Tensor(const Scope&, Tensor)> logits;
    std::function<void(const Parameters&, State&)> load;
};

/// Tokens and targets for a language model. Throws InputError if tokens are missing, or if the model cannot take what
/// is there.
ForwardCase language_case(const ForwardOptions& options, const Safetensors& file);
/// Images and labels for a vision model. Throws as language_case does.
ForwardCase image_case(const ForwardOptions& options, const Safetensors& file);

}  // namespace vkf
