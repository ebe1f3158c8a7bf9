#include "apps/train/text_samples.h"

#include <algorithm>
#include <map>
#include <utility>

#include "apps/cli/interrupts.h"
#include "base/random.h"
#include "models/generation/continuation.h"

namespace vkf {

TextSamples::TextSamples(Device& device, const Trainer& trainer, const ModelConfig& model, Format activations,
                         const Tokenizer* tokenizer, Options options)
    : trainer_(trainer),
      tokenizer_(tokenizer),
      options_(std::move(options)),
      generator_(device, model, {.activations = activations}),
      prompt_(tokenizer ? tokenizer->encode(options_.prompt) : Tokens{0}),
      vocabulary_(tokenizer ? static_cast<std::int64_t>(tokenizer->size()) : model.size(Dimension::vocab_size).value) {}

void TextSamples::copy_parameters() {
    std::map<std::string, std::string> changed;  // states of the trainer by the parameter that they stand for
    const std::vector<Parameter> trained = trainer_.parameters().trained();
    const std::vector<std::string> states = trainer_.evaluated_states();
    for (std::size_t i = 0; i < trained.size(); ++i) changed[trained[i].name] = states[i];
    for (const Parameter& parameter : generator_.parameters().list()) {
        const auto found = changed.find(parameter.name);
        const std::string& source = found == changed.end() ? parameter.name : found->second;
        generator_.state().write(parameter.name, trainer_.state().read(source));
    }
}

std::string TextSamples::draw(std::int64_t step) {
    copy_parameters();
    const ContinuationOptions how{.sampling = {}, .max_new_tokens = options_.tokens, .vocabulary = vocabulary_};
    Continuation text(how, tokenizer_, prompt_, Random(options_.seed, "sample", static_cast<std::uint64_t>(step)));
    std::vector<float> logits = generator_.prefill(prompt_);
    for (text.advance(logits); !text.finished(); text.advance(logits)) {
        stop_if_interrupted();
        logits = generator_.decode(text.tokens().back());
    }
    return (tokenizer_ ? options_.prompt : "") + text.text();
}

}  // namespace vkf
