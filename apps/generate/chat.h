// vkformer generate --interactive: a conversation on standard input and output.
#pragma once

#include <string>

#include "apps/cli/common.h"
#include "apps/model.h"
#include "models/generation/continuation.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

/// Options of a conversation.
struct ChatOptions {
    bool interactive = false;
    std::string chat_template;  // empty: the model's own
    std::string system;

    void declare(cli::Command& command);
};

/// Reads one turn per line until standard input ends or says /exit. Ctrl-C ends an answer, or else the conversation.
/// Throws: InputError naming what the model lacks, or a message that cannot be used; on a terminal, such a message is
/// only noted and the conversation continues.
void chat(Device& device, const Common& common, const ChatOptions& options, const ContinuationOptions& settings,
          const LanguageModel& model);

}  // namespace vkf
