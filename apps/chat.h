// vkformer generate --interactive: a conversation on standard input and output.
#pragma once

#include <string>

#include "apps/common.h"
#include "apps/model.h"
#include "models/continuation.h"

namespace CLI {
class App;
}

namespace vkf {

/// How to converse.
struct ChatOptions {
    bool interactive = false;
    std::string chat_template;  // or the model's own
    std::string system;

    void declare(CLI::App& command);
};

/// A turn per line until standard input ends or says /exit. Ctrl-C ends an answer, or else the conversation.
/// Throws: InputError naming what the model lacks, or a message that cannot be taken; on a terminal this is said, and
/// the conversation goes on.
void chat(Device& device, const Common& common, const ChatOptions& options, const ContinuationOptions& how,
          const LanguageModel& model);

}  // namespace vkf
