// Prompts of `vkformer generate`: from the command line and from files, as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/model.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

/// Sources of the prompts.
struct PromptOptions {
    std::vector<std::string> texts;
    std::string list;                  // a file with one prompt per line; .jsonl: an object with a "prompt"
    std::string file;                  // a file that is one prompt; - is standard input
    std::vector<std::int32_t> tokens;  // one prompt in tokens

    void declare(cli::Command& command);
    bool given() const { return !texts.empty() || !list.empty() || !file.empty() || !tokens.empty(); }
};

struct Prompt {
    std::string source;  // name in messages: "the prompt", "p.txt: line 3"
    Tokens tokens;
};

/// All prompts, in the order of the options; a line end if none was given. Throws: InputError naming a prompt that is
/// empty, not UTF-8 or not in the model's tokens, or a file without prompts.
std::vector<Prompt> read_prompts(const PromptOptions& options, const LanguageModel& model);

}  // namespace vkf
