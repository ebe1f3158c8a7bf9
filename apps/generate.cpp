// vkformer generate: text from a prompt, token by token, as it comes.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/interrupts.h"
#include "apps/model.h"
#include "apps/option_values.h"
#include "base/file.h"
#include "models/generate.h"
#include "models/sampling.h"
#include "models/stop_strings.h"
#include "models/tokenizers/text_decoder.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

struct Options {
    std::string model, base, file;
    std::optional<std::string> prompt;
    std::vector<std::int32_t> prompt_tokens;
    std::int64_t max_new_tokens = 500;
    std::int64_t num_samples = 1;
    std::vector<std::string> stop;
    bool ignore_eos = false;
    Sampling sampling;
};

/// The tokens of a prompt, begun with what the model wants texts to begin with.
Tokens encode_prompt(const Tokenizer& tokenizer, const std::string& words, const std::string& source) try {
    Tokens tokens;
    const auto begin = tokenizer.begin_of_text();
    const Tokens read = tokenizer.encode(words, SpecialNames::tokens);
    if (begin && read.front() != *begin) tokens.push_back(*begin);  // the prompt may say it itself
    tokens.insert(tokens.end(), read.begin(), read.end());
    return tokens;
} catch (const InputError& error) {
    throw InputError(source, ": ", error.what());
}

std::vector<std::int32_t> read_prompt(const Options& options, const LanguageModel& model) {
    std::vector<std::int32_t> tokens = options.prompt_tokens;
    if (tokens.empty()) {
        require(model.tokenizer.has_value(), "model ", options.model,
                " has no tokenizer (tokenizer.json, chars.json, …), so it reads no text; give --prompt-tokens");
        const std::string words = !options.file.empty() ? read_text(options.file == "-" ? "/dev/stdin" : options.file)
                                                        : options.prompt.value_or("\n");
        require(!words.empty(), "the prompt is empty, wanted at least one character");
        tokens = encode_prompt(**model.tokenizer, words, options.file.empty() ? "the prompt" : options.file);
    }
    for (std::size_t i = 0; i < tokens.size(); ++i)
        require(tokens[i] >= 0 && tokens[i] < model.vocabulary(), "prompt: token ", i, " is ", tokens[i],
                ", wanted 0 to ", model.vocabulary() - 1, " (", model.config.size(Dimension::vocab_size).key, " ",
                model.vocabulary(), ")");
    return tokens;
}

/// How tokens are shown as they come: as text if the model has a tokenizer, else as numbers.
class Transcript {
public:
    explicit Transcript(const LanguageModel& model) {
        if (model.tokenizer) decoder_.emplace(**model.tokenizer);
    }
    std::string feed(std::span<const std::int32_t> tokens) {
        std::string shown;
        for (const std::int32_t token : tokens) shown += decoder_ ? decoder_->feed(token) : text(token, ' ');
        return shown;
    }
    std::string finish() { return decoder_ ? decoder_->finish() : ""; }

private:
    std::optional<TextDecoder> decoder_;
};

/// Tokens and seconds, for the prompt and for what follows it.
struct Tally {
    std::int64_t read = 0, written = 0;
    double reading = 0, writing = 0;

    std::string text() const {
        const auto rate = [](std::int64_t tokens, double seconds) {
            return seconds > 0 ? count_text(static_cast<double>(tokens) / seconds) : "0";
        };
        return vkf::text("read ", read, " tokens at ", rate(read, reading), "/s, wrote ", written, " at ",
                         rate(written, writing), "/s");
    }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Throws Error if nothing can be chosen by these logits.
void require_finite(std::span<const float> logits, const Options& options) {
    const auto bad = std::ranges::find_if(logits, [](float x) { return !std::isfinite(x); });
    if (bad != logits.end())
        throw Error("model ", options.model, ": the logit of token ", bad - logits.begin(), " is ", *bad);
}

/// A continuation, and why it ended where it did.
struct Sample {
    std::vector<std::int32_t> tokens;
    const char* finish_reason = "length";
};

/// One sample; `show` gets the prompt, once there is something to follow it, and every token as it comes, and returns
/// whether more may come. The token `end` ends it, too, and is no part of it.
Sample write(Generator& generator, const Options& options, std::size_t choices, std::span<const std::int32_t> prompt,
             std::optional<std::int32_t> end, Random random, Tally& tally,
             const std::function<bool(std::span<const std::int32_t>)>& show) {
    Sample written;
    std::vector<std::int32_t>& tokens = written.tokens;
    std::vector<std::int32_t> before(prompt.begin(), prompt.end());
    auto start = std::chrono::steady_clock::now();
    std::vector<float> logits = generator.prefill(prompt);
    tally.read += std::ssize(generator.context());
    tally.reading += seconds_since(start);
    require_finite(std::span(logits).first(choices), options);
    show(prompt);
    start = std::chrono::steady_clock::now();
    while (std::ssize(tokens) < options.max_new_tokens && !interrupted()) {
        if (!tokens.empty()) logits = generator.decode(tokens.back());
        const auto known = std::span(logits).first(choices);
        require_finite(known, options);
        penalize_repetition(known, before, options.sampling.repetition_penalty);
        const std::int32_t token = sample(known, options.sampling, random);
        if (token == end) {
            written.finish_reason = "end_of_text";
            break;
        }
        tokens.push_back(token);
        before.push_back(token);
        if (!show(std::span(tokens).last(1))) break;
    }
    tally.written += std::ssize(tokens);
    tally.writing += seconds_since(start);
    return written;
}

void run(Device& device, const Common& common, const Options& options, const LanguageModel& model,
         const std::vector<std::int32_t>& prompt) {
    Generator generator(device, model.config, common.activations());
    model.load(generator.parameters(), generator.state());
    const std::int64_t context = model.config.size(Dimension::context);
    if (std::ssize(prompt) > context)
        note(common, text("the prompt has ", prompt.size(), " tokens; the model sees its last ", context));
    const auto choices = static_cast<std::size_t>(model.vocabulary());  // the rest is padding
    std::optional<std::int32_t> end;
    if (model.tokenizer && !options.ignore_eos) end = (*model.tokenizer)->end_of_text();
    auto samples = nlohmann::ordered_json::array();
    Tally tally;
    for (std::int64_t s = 0; s < options.num_samples && !interrupted(); ++s) {
        if (!common.json && s > 0) print("---------------\n");
        const Random random(common.seed, "sample", static_cast<std::uint64_t>(s));
        Transcript transcript(model);
        StopStrings stop(options.stop);
        std::string written;  // after the prompt
        const auto show = [&](std::span<const std::int32_t> tokens) {
            const bool given = tokens.data() == prompt.data();
            std::string shown = transcript.feed(tokens);
            if (!given) written += shown = stop.feed(shown);
            if (!common.json) print(shown);
            return !stop.found();
        };
        Sample sample = write(generator, options, choices, prompt, end, random, tally, show);
        std::string rest = stop.feed(transcript.finish());
        rest += stop.finish();
        if (stop.found()) sample.finish_reason = "stop";
        if (!common.json) print(rest + "\n");
        samples.push_back({{"tokens", sample.tokens}});
        if (model.tokenizer) samples.back()["text"] = written + rest;
        samples.back()["finish_reason"] = interrupted() ? "interrupted" : sample.finish_reason;
    }
    if (common.json)
        print_json(nlohmann::ordered_json{
            {"prompt_tokens", prompt},
            {"samples", samples},
            {"tokens_per_s", static_cast<double>(tally.written) / std::max(tally.writing, 1e-9)}});
    note(common, tally.text());
    stop_if_interrupted();
}

void add_options(CLI::App& command, Options& o) {
    command.add_option("--model,model", o.model, "Model directory")->required()->type_name("DIR");
    add_base_option(command, o.base);
    auto* prompt = command.add_option("--prompt", o.prompt, "Text to continue (a line end)")->type_name("TEXT");
    auto* file =
        command.add_option("--file", o.file, "File with the text to continue; - is standard input")->type_name("FILE");
    auto* tokens = command.add_option("--prompt-tokens", o.prompt_tokens, "Tokens to continue, as 1,2,3")
                       ->type_name("N,N,...")
                       ->check(whole(0, std::numeric_limits<std::int32_t>::max()))
                       ->delimiter(',');
    file->excludes(prompt);
    tokens->excludes(prompt)->excludes(file);
    command.add_option("--max-new-tokens", o.max_new_tokens, "Tokens to add")
        ->type_name("N")
        ->check(whole(0))
        ->capture_default_str();
    command.add_option("--num-samples", o.num_samples, "Continuations to write")
        ->type_name("N")
        ->check(whole(1))
        ->capture_default_str();
    command.add_option("--temperature", o.sampling.temperature, "Below 1: bolder choices fade; 0: the likeliest token")
        ->type_name("X")
        ->check(at_least(0))
        ->capture_default_str();
    command.add_option("--top-k", o.sampling.top_k, "Choose among the K likeliest tokens; 0: all")
        ->type_name("K")
        ->check(whole(0))
        ->capture_default_str();
    command.add_option("--top-p", o.sampling.top_p, "Choose among the likeliest tokens that sum to P")
        ->type_name("P")
        ->check(number({.least = 0, .most = 1, .least_too = false}))
        ->capture_default_str();
    command.add_option("--min-p", o.sampling.min_p, "Choose among tokens at least P times as likely as the likeliest")
        ->type_name("P")
        ->check(number({.least = 0, .most = 1}))
        ->capture_default_str();
    command
        .add_option("--repetition-penalty", o.sampling.repetition_penalty, "Above 1: what was there comes again less")
        ->type_name("X")
        ->check(number({.least = 0, .most = 1e6, .least_too = false}))
        ->capture_default_str();
    command.add_option("--stop", o.stop, "End before this text; may be given several times")
        ->type_name("TEXT")
        ->allow_extra_args(false)
        ->check(words());
    command.add_flag("--ignore-eos", o.ignore_eos, "Go on after the token that ends texts");
}

}  // namespace

void add_generate(CLI::App& app, Common& common) {
    CLI::App* command = app.add_subcommand("generate", "Text from a prompt, as it comes");
    auto options = std::make_shared<Options>();
    add_options(*command, *options);
    add_common(*command, common);
    command->footer(
        "Examples:\n"
        "  vkformer generate --model out --prompt 'To be' --max-new-tokens 200\n"
        "  vkformer generate --model out --temperature 0 --file prompt.txt\n"
        "  vkformer generate --model out --prompt-tokens 4,3,2 --top-p 0.9 --json\n"
        "  vkformer generate --model out --prompt 'To be' --min-p 0.05 --repetition-penalty 1.2 --stop '.'\n"
        "\n"
        "A continuation ends before the token that ends texts, before a --stop, or after --max-new-tokens.\n"
        "Ctrl-C ends it after the token at hand, with exit status 130.\n");
    command->callback([options, &common] {
        validate(options->sampling);
        const LanguageModel model = open_language_model({options->model, options->base});
        require(model.family().generates(), "model ", options->model, ": a ", model.family().title,
                " does not continue text");
        require(options->stop.empty() || model.tokenizer, "--stop is for models with a tokenizer; ", options->model,
                " has none");
        const std::vector<std::int32_t> prompt = read_prompt(*options, model);
        catch_interrupts();
        with_device(common, [&](Device& device) { run(device, common, *options, model, prompt); });
    });
}

}  // namespace vkf
