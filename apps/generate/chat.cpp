#include "apps/generate/chat.h"

#include <cstdint>
#include <cstdio>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/raw_output.h"
#include "base/error.h"
#include "base/os/os.h"
#include "models/generation/conversation.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// The user's next line; nothing at the end of input, or if the program is asked to stop.
std::optional<std::string> next_line(bool terminal) {
    if (terminal) std::fputs("> ", stderr);
    std::string line;
    int byte = 0;
    while ((byte = std::getc(stdin)) != EOF && byte != '\n') line += static_cast<char>(byte);
    if (interrupted() || (byte == EOF && line.empty())) {
        if (terminal) std::fputs("\n", stderr);
        return {};
    }
    if (line.ends_with('\r')) line.pop_back();
    return line;
}

/// Chat template and system message from the options, else from the model's files.
RecognisedTemplate chosen_template(const Common& common, const ChatOptions& options, const LanguageModel& model) {
    if (!options.chat_template.empty()) return {options.chat_template, options.system};
    auto found = recognised_chat_template(model.path);
    if (!found)
        note(common,
             text("the chat template of ", model.path.string(), " is of no kind that is known here; turns are lines"));
    RecognisedTemplate chosen = found.value_or(RecognisedTemplate{"none", {}});
    if (!options.system.empty()) chosen.system = options.system;
    return chosen;
}

}  // namespace

void ChatOptions::declare(cli::Command& command) {
    command.add_flag("--interactive", interactive, "A conversation: a turn on every line of standard input");
    command.add_option("--chat-template", chat_template, "How it is written down, if not as the model's files say")
        .type_name("chatml|llama3|llama2|none")
        .check(one_of(chat_template_names()));
    command.add_option("--system", system, "System message, before the conversation, if not the chat template's own")
        .type_name("TEXT")
        .check(words());
}

void chat(Device& device, const Common& common, const ChatOptions& options, const ContinuationOptions& settings,
          const LanguageModel& model) {
    const Tokenizer& tokenizer = **model.tokenizer;
    const RecognisedTemplate chosen = chosen_template(common, options, model);
    const ChatTemplate format(chosen.name, tokenizer);
    require(options.system.empty() || format.takes_system_message(), "--system is for models with a chat template; ",
            model.path.string(), " has none that is known, and --chat-template is not given");
    Generator generator(device, model.config, {.activations = common.activations()});
    model.load(generator.parameters(), generator.state());
    Conversation conversation(generator, format, tokenizer, chosen.system, settings);

    const bool terminal = os::is_terminal(os::STANDARD_INPUT) && !common.quiet;
    std::uint64_t turn = 0;
    for (auto line = next_line(terminal); line && *line != "/exit"; line = next_line(terminal)) {
        if (line->empty()) continue;
        try {
            if (const std::size_t left_out = conversation.listen(*line); left_out > 0)
                note(common, text("the context is full: the oldest ", left_out,
                                  left_out > 1 ? " turns are" : " turn is", " left out"));
        } catch (const InputError& error) {
            if (!terminal) throw;
            note(common, error.what());
            continue;
        }
        const Continuation answer = conversation.answer(Random(common.seed, "sample", turn++), [](const auto& shown) {
            print_as_is(shown);
            return !interrupted();
        });
        print("\n");
        if (answer.finish_reason() == std::string_view("context"))
            note(common, "the context is full: the answer ends here");
        forget_interrupt();
    }
    stop_if_interrupted();
}

}  // namespace vkf
