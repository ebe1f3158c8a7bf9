// Inputs of `vkformer forward`: the tensors of a file, as a model of each task takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
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
    std::vector<std::string> taps;  // names of layers' tensors
};

/// Tensor of the file, in the form in which the model takes it.
struct ForwardTensor {
    std::string name;
    TensorType type;
    std::vector<std::int32_t> integers;  // contents, if it has integers
    std::vector<float> numbers;          // contents otherwise
};

/// Contents of the file, and the model's functions of them.
struct ForwardCase {
    std::vector<ForwardTensor> inputs;
    ForwardTensor targets;  // without contents if absent
    std::function<Tensor(const Scope&, std::span<const Tensor> inputs)> logits;
    std::function<void(const Parameters&, State&)> load;
};

/// Tokens and targets for a language model. Throws InputError if tokens are missing, or if the model cannot take what
/// is there.
ForwardCase language_case(const ForwardOptions& options, const Safetensors& file);
/// Images and labels for a vision model. Throws as language_case does.
ForwardCase image_case(const ForwardOptions& options, const Safetensors& file);
/// Sources and targets for a translation model: the inputs of translation_loss(). Throws as language_case does.
ForwardCase translation_case(const ForwardOptions& options, const Safetensors& file);
/// Sequences and classes for a sequence classifier: the inputs of sequence_loss(). Throws as language_case does.
ForwardCase sequence_case(const ForwardOptions& options, const Safetensors& file);

}  // namespace vkf
