// Texts that a language model in training writes, to be read beside its losses.
#pragma once

#include <cstdint>
#include <string>

#include "models/generation/generate.h"
#include "models/tokenizers/tokenizer.h"
#include "models/train/trainer.h"

namespace vkf {

/// Writes texts with a trainer's parameters, of which it keeps a copy on the device. Training does not notice.
class TextSamples {
public:
    struct Options {
        std::int64_t tokens = 0;  // of a text, after the prompt
        std::string prompt = "\n";
        std::uint64_t seed = 0;
    };

    /// The trainer and the tokenizer must outlive the object; without a tokenizer (null) the prompt is token 0, and
    /// texts are numbers of tokens. Throws InputError if the tokenizer lacks a character of the prompt.
    TextSamples(Device& device, const Trainer& trainer, const ModelConfig& model, Format activations,
                const Tokenizer* tokenizer, Options options);

    /// Prompt and text, drawn by the present parameters (moving averages, if the trainer keeps them), with random
    /// numbers of this step. No update may be under way. Throws Interrupted after Ctrl-C, and Error naming a logit that
    /// is not finite.
    std::string draw(std::int64_t step);

private:
    void copy_parameters();

    const Trainer& trainer_;
    const Tokenizer* tokenizer_;
    Options options_;
    Generator generator_;
    Tokens prompt_;
    std::int64_t vocabulary_;
};

}  // namespace vkf
