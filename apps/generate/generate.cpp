// vkformer generate: writes text after a prompt, token by token, as it is generated.

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "apps/cli/raw_output.h"
#include "apps/generate/chat.h"
#include "apps/generate/generation_defaults.h"
#include "apps/generate/prompts.h"
#include "apps/model.h"
#include "models/generation/batch_generation.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

using Clock = std::chrono::steady_clock;

struct GenerateOptions {
    std::string model, base;
    bool verify = true;
    PromptOptions prompts;
    ChatOptions chat;
    std::int64_t num_samples = 1;
    std::int64_t batch_size = 4;
    bool ignore_eos = false;
    ContinuationOptions how;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double rate(std::int64_t tokens, double seconds) {
    return static_cast<double>(tokens) / std::max(seconds, 1e-9);
}

/// GenerateOptions of a continuation, with the model's vocabulary and the tokens that end its texts.
ContinuationOptions continuation_options(const GenerateOptions& options, const LanguageModel& model,
                                         bool log_probabilities) {
    ContinuationOptions how = options.how;
    how.vocabulary = model.vocabulary();
    how.log_probabilities = log_probabilities;
    how.model = text("model ", options.model);
    if (options.ignore_eos) how.end_tokens.clear();
    if (!model.tokenizer || options.ignore_eos) return how;
    if (const auto end = (*model.tokenizer)->end_of_text()) how.end_tokens.push_back(*end);
    return how;
}

/// Prints texts in their order: a single text as it comes, several texts each when it is complete.
class Printer {
public:
    Printer(const Common& common, std::span<Continuation> texts) : common_(common), texts_(texts) {
        if (texts.size() > 1) progress_.emplace(common, "generate", "texts", std::ssize(texts));
    }

    void show(const GenerationTimes& times) {
        if (progress_) progress_->update(static_cast<std::int64_t>(times.finished), text(times.written, " tokens"));
        if (common_.json) return;
        for (; at_ < texts_.size() && texts_[at_].finished(); ++at_) {
            if (progress_) progress_->clear();
            print_as_is(text(at_ > 0 ? "---------------\n" : "", texts_[at_].take_shown(), '\n'));
        }
        if (texts_.size() == 1 && at_ == 0) print_as_is(texts_[0].take_shown());
    }
    void finish(const GenerationTimes& times) {
        show(times);
        progress_.reset();
    }

private:
    const Common& common_;
    std::span<Continuation> texts_;
    std::optional<Progress> progress_;
    std::size_t at_ = 0;  // first text that is not printed completely
};

nlohmann::ordered_json sample_json(const Continuation& text, bool words) {
    nlohmann::ordered_json sample{{"prompt_tokens", text.prompt()}, {"tokens", text.tokens()}};
    if (words) sample["text"] = text.text();
    sample["log_probabilities"] = text.log_probabilities();
    sample["finish_reason"] = text.finish_reason();
    return sample;
}

nlohmann::ordered_json document(std::span<const Continuation> texts, bool words, const GenerationTimes& times,
                                double loading) {
    nlohmann::ordered_json made;
    const auto differs = [&](const Continuation& text) { return text.prompt() != texts.front().prompt(); };
    if (!texts.empty() && std::ranges::none_of(texts, differs)) made["prompt_tokens"] = texts.front().prompt();
    made["samples"] = nlohmann::ordered_json::array();
    for (const Continuation& text : texts) made["samples"].push_back(sample_json(text, words));
    made["tokens_per_s"] = rate(times.written, times.writing);
    made["timings"] = {{"load_s", loading},
                       {"first_token_s", times.first_token},
                       {"prefill_tokens", times.read},
                       {"prefill_s", times.reading},
                       {"prefill_tokens_per_s", rate(times.read, times.reading)},
                       {"decode_tokens", times.written},
                       {"decode_s", times.writing},
                       {"decode_tokens_per_s", rate(times.written, times.writing)}};
    return made;
}

/// Throws InputError if the caches of `rows` rows do not fit into free memory, even without anything else.
void require_room(Device& device, const ModelConfig& config, Format activations, std::int64_t rows) {
    const auto one = static_cast<double>(cache_bytes(config, activations));
    const auto free = static_cast<double>(device.free_bytes());
    const auto most = static_cast<std::int64_t>(free / one) - 1;  // one row more reads prompts
    require(rows == 1 || rows <= most, "--batch-size is ", rows, ": keys and values of ", rows, " rows take ",
            bytes_text(one * static_cast<double>(rows + 1)), ", and ", bytes_text(free), " are free, wanted at most ",
            std::max<std::int64_t>(most, 1));
}

void run(Device& device, const Common& common, const GenerateOptions& options, const LanguageModel& model,
         const std::vector<Prompt>& prompts, Clock::time_point start) {
    const std::int64_t context = model.config.size(Dimension::context);
    for (const auto& [source, tokens] : prompts)
        if (std::ssize(tokens) > context)
            note(common, text(source, " has ", tokens.size(), " tokens; the model sees its last ", context));
    const std::int64_t rows =
        std::min(options.batch_size, static_cast<std::int64_t>(prompts.size()) * options.num_samples);
    require_room(device, model.config, common.activations(), rows);
    Generator generator(device, model.config, {.activations = common.activations(), .rows = rows});
    model.load(generator.parameters(), generator.state());
    const double loading = seconds_since(start);

    const ContinuationOptions how = continuation_options(options, model, common.json);
    const Tokenizer* tokenizer = model.tokenizer ? model.tokenizer->tokenizer.get() : nullptr;
    std::vector<Continuation> texts;
    for (const Prompt& prompt : prompts)
        for (std::int64_t s = 0; s < options.num_samples; ++s)
            texts.emplace_back(how, tokenizer, prompt.tokens,
                               Random(common.seed, "sample", static_cast<std::uint64_t>(s)));

    Printer printer(common, texts);
    const GenerationTimes times = generate_all(generator, texts, [&](const GenerationTimes& so_far) {
        printer.show(so_far);
        return !interrupted();
    });
    // After a request to stop, unfinished texts are printed as far as they got.
    const auto begun = std::span(texts).first(times.begun);
    for (Continuation& text : begun) text.interrupt();
    printer.finish(times);
    if (common.json) print_json(document(begun, tokenizer, times, loading));
    note(common, text("read ", times.read, " tokens at ", count_text(rate(times.read, times.reading)), "/s, wrote ",
                      times.written, " at ", count_text(rate(times.written, times.writing)), "/s"));
    stop_if_interrupted();
}

void add_options(cli::Command& command, GenerateOptions& o) {
    command.add_option("--model,model", o.model, "Model directory").required().type_name("DIR");
    add_base_option(command, o.base);
    add_verify_option(command, o.verify);
    o.prompts.declare(command);
    o.chat.declare(command);
    command.add_option("--max-new-tokens", o.how.max_new_tokens, "Tokens to add")
        .type_name("N")
        .check(whole(0))
        .capture_default_str();
    command.add_option("--num-samples", o.num_samples, "Continuations to write")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
    command
        .add_option("--batch-size", o.batch_size,
                    "Texts written at once; up to 4 at once, each is what it is alone to the last bit")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
    command
        .add_option("--temperature", o.how.sampling.temperature, "Below 1: bolder choices fade; 0: the likeliest token")
        .type_name("X")
        .check(at_least(0))
        .capture_default_str();
    command.add_option("--top-k", o.how.sampling.top_k, "Choose among the K likeliest tokens; 0: all")
        .type_name("K")
        .check(whole(0))
        .capture_default_str();
    command.add_option("--top-p", o.how.sampling.top_p, "Choose among the likeliest tokens that sum to P")
        .type_name("P")
        .check(number({.least = 0, .most = 1, .least_too = false}))
        .capture_default_str();
    command
        .add_option("--min-p", o.how.sampling.min_p, "Choose among tokens at least P times as likely as the likeliest")
        .type_name("P")
        .check(number({.least = 0, .most = 1}))
        .capture_default_str();
    command
        .add_option("--repetition-penalty", o.how.sampling.repetition_penalty,
                    "Above 1: what was there comes again less")
        .type_name("X")
        .check(number({.least = 0, .most = 1e6, .least_too = false}))
        .capture_default_str();
    command.add_option("--stop", o.how.stop, "End before this text; may be given several times")
        .type_name("TEXT")
        .one_word_each()
        .check(words());
    command.add_flag("--ignore-eos", o.ignore_eos, "Go on after the token that ends texts");
}

/// Throws InputError if a conversation is impossible, or if options have no effect on it.
void require_conversation(const cli::Command& command, const LanguageModel& model) {
    for (const char* name : {"--prompt", "--prompts", "--file", "--prompt-tokens", "--num-samples", "--batch-size"})
        require(command.count(name) == 0, name, " has no effect beside --interactive");
    require(command.count("--json") == 0, "--json has no effect beside --interactive");
    require(model.tokenizer.has_value(), "--interactive is for models with a tokenizer; ", model.path.string(),
            " has none");
}

}  // namespace

void add_generate(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("generate", "Text from a prompt, as it comes");
    auto options = std::make_shared<GenerateOptions>();
    add_options(command, *options);
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer generate --model out --prompt 'To be' --max-new-tokens 200\n"
        "  vkformer generate --model out --temperature 0 --file prompt.txt\n"
        "  vkformer generate --model out --prompt-tokens 4,3,2 --top-p 0.9 --json\n"
        "  vkformer generate --model out --prompt 'To be' --min-p 0.05 --repetition-penalty 1.2 --stop '.'\n"
        "  vkformer generate --model out --prompt 'To be' --prompt 'Or not' --num-samples 2\n"
        "  vkformer generate --model out --prompts prompt.txt --batch-size 2 --quiet\n"
        "  vkformer generate --model out --interactive --max-new-tokens 40\n"
        "\n"
        "A continuation ends before a token that ends texts, before a --stop, or after --max-new-tokens. Which tokens\n"
        "end texts the tokenizer says, and eos_token_id in generation_config.json or config.json. What the former "
        "says\n"
        "of sampling (do_sample, temperature, top_k, top_p, min_p, repetition_penalty), max_new_tokens and\n"
        "stop_strings is the default in place of the above, in a note; what else changes results is refused.\n"
        "Ctrl-C ends it after the token at hand, with exit status 130. Sample i of a prompt is a function of the\n"
        "prompt, the seed and i, whatever is written beside it. In --json, log_probabilities are natural logarithms\n"
        "of the model's own probabilities, before temperature, penalty and filters; timings are in seconds.\n"
        "\n"
        "In a conversation Ctrl-C ends an answer, or else the conversation, as do /exit and the end of the input.\n"
        "Where the context is full, the oldest turns are left out; the system message stays.\n");
    command.callback([options, &command, &common] {
        const auto start = Clock::now();
        validate(options->how.sampling);
        const LanguageModel model = open_language_model({options->model, options->base, options->verify});
        require(model.family().generates(), "model ", options->model, ": a ", model.family().title,
                " does not continue text");
        take_generation_defaults(command, common, model, options->how);
        require(options->how.stop.empty() || model.tokenizer, "--stop is for models with a tokenizer; ", options->model,
                " has none");
        catch_interrupts();
        if (options->chat.interactive) {
            require_conversation(command, model);
            const ContinuationOptions how = continuation_options(*options, model, false);
            with_device(common, [&](Device& device) { chat(device, common, options->chat, how, model); });
            return;
        }
        for (const char* name : {"--chat-template", "--system"})
            require(command.count(name) == 0, name, " has no effect without --interactive");
        const std::vector<Prompt> prompts = read_prompts(options->prompts, model);
        with_device(common, [&](Device& device) { run(device, common, *options, model, prompts, start); });
    });
}

}  // namespace vkf
