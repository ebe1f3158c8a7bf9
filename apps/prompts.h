// The prompts of `vkformer generate`: from the command line and from files, as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/model.h"

namespace CLI {
class App;
}

namespace vkf {

/// Where they come from.
struct PromptOptions {
    std::vector<std::string> texts;
    std::string list;                  // a file with one on every line; .jsonl: an object with a "prompt"
    std::string file;                  // a file that is one; - is standard input
    std::vector<std::int32_t> tokens;  // one in tokens

    void declare(CLI::App& command);
    bool given() const { return !texts.empty() || !list.empty() || !file.empty() || !tokens.empty(); }
};

struct Prompt {
    std::string source;  // what messages call it: "the prompt", "p.txt: line 3"
    Tokens tokens;
};

/// All of them, in the order of the options; if none was given, a line end.
/// Throws: InputError naming the prompt that is empty, not UTF-8 or not of the model's tokens, or the file that has
/// none.
std::vector<Prompt> read_prompts(const PromptOptions& options, const LanguageModel& model);

}  // namespace vkf
