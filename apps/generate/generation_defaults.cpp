#include "apps/generate/generation_defaults.h"

#include <optional>

#include "apps/cli/command.h"
#include "base/error.h"
#include "models/files/generation_config.h"

namespace vkf {

void take_generation_defaults(const cli::Command& command, const Common& common, const Model& model,
                              ContinuationOptions& settings) {
    const GenerationConfig said = read_generation_config(model.path);
    settings.end_tokens = said.end_tokens;
    std::string taken;
    const auto take = [&](const char* option, const auto& value, auto& place) {
        if (!value || command.count(option) > 0) return;
        place = *value;
        taken += text(taken.empty() ? "" : ", ", option + 2, " ", *value);
    };
    const bool greedy = said.do_sample == false;
    take("--temperature", greedy ? std::optional(0.0) : said.temperature, settings.sampling.temperature);
    take("--top-k", said.top_k, settings.sampling.top_k);
    take("--top-p", said.top_p, settings.sampling.top_p);
    take("--min-p", said.min_p, settings.sampling.min_p);
    take("--repetition-penalty", said.repetition_penalty, settings.sampling.repetition_penalty);
    take("--max-new-tokens", said.max_new_tokens, settings.max_new_tokens);
    if (!said.stop_strings.empty() && command.count("--stop") == 0) {
        settings.stop = said.stop_strings;
        taken += text(taken.empty() ? "" : ", ", "stop of ", settings.stop.size(),
                      settings.stop.size() > 1 ? " texts" : " text");
    }
    try {
        validate(settings.sampling);
        require(settings.max_new_tokens >= 0, "max_new_tokens is ", settings.max_new_tokens, ", wanted 0 or more");
        for (const std::string& words : settings.stop) require(!words.empty(), "stop_strings has an empty text");
    } catch (const InputError& error) {
        throw InputError(said.file.string(), ": ", error.what());
    }
    if (!taken.empty()) note(common, text(said.file.string(), " says ", taken, "; options go before it"));
}

}  // namespace vkf
