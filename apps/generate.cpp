// vkformer generate: text from a prompt, token by token, as it comes.

#include <chrono>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/model.h"
#include "base/file.h"
#include "models/generate.h"
#include "models/sampling.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

struct Options {
    std::string model, file;
    std::optional<std::string> prompt;
    std::vector<std::int32_t> prompt_tokens;
    std::int64_t max_new_tokens = 500;
    std::int64_t num_samples = 1;
    Sampling sampling;
};

std::vector<std::int32_t> read_prompt(const Options& options, const Model& model) {
    std::vector<std::int32_t> tokens = options.prompt_tokens;
    if (tokens.empty()) {
        require(model.characters.has_value(), "model ", options.model,
                " has no chars.json, so it reads no text; give --prompt-tokens");
        const std::string words = !options.file.empty()
                                      ? read_text(options.file == "-" ? "/dev/stdin" : options.file)
                                      : options.prompt.value_or("\n");
        require(!words.empty(), "the prompt is empty, wanted at least one character");
        tokens = model.characters->encode(words);
    }
    check_tokens("prompt", tokens, model.config.vocab_size);
    return tokens;
}

/// How tokens are shown: as text if the model has characters, else as numbers.
std::string shown(const Model& model, std::span<const std::int32_t> tokens) {
    if (model.characters) return model.characters->decode(tokens);
    std::string numbers;
    for (const std::int32_t token : tokens) numbers += std::to_string(token) + " ";
    return numbers;
}

void run(Device& device, const Common& common, const Options& options, const Model& model,
         const std::vector<std::int32_t>& prompt) {
    Generator generator(device, model.config);
    model.load(generator.parameters(), generator.state());
    if (static_cast<std::int64_t>(prompt.size()) > model.config.n_positions)
        note(common, text("the prompt has ", prompt.size(), " tokens; the model sees its last ",
                          model.config.n_positions));
    const std::size_t choices = model.characters
                                    ? model.characters->size()  // the rest is padding
                                    : static_cast<std::size_t>(model.config.vocab_size);
    auto samples = nlohmann::ordered_json::array();
    std::int64_t count = 0;
    const auto began = std::chrono::steady_clock::now();
    for (std::int64_t s = 0; s < options.num_samples && !interrupted(); ++s) {
        Random random(common.seed, "sample", static_cast<std::uint64_t>(s));
        std::vector<std::int32_t> tokens;
        if (!common.json) print((s > 0 ? "---------------\n" : "") + shown(model, prompt));
        std::vector<float> logits = generator.start(prompt);
        while (std::ssize(tokens) < options.max_new_tokens && !interrupted()) {
            if (!tokens.empty()) logits = generator.append(tokens.back());
            tokens.push_back(sample(std::span(logits).first(choices), options.sampling, random));
            if (!common.json) print(shown(model, std::span(tokens).last(1)));
        }
        if (!common.json) print("\n");
        count += std::ssize(tokens);
        samples.push_back({{"tokens", tokens}});
        if (model.characters) samples.back()["text"] = shown(model, tokens);
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double rate = static_cast<double>(count) / seconds;
    if (common.json)
        print_json(nlohmann::ordered_json{
            {"prompt_tokens", prompt}, {"samples", samples}, {"tokens_per_s", rate}});
    note(common,
         text(count, " tokens in ", count_text(seconds), " s, ", count_text(rate), " tokens/s"));
    if (interrupted()) throw Interrupted();
}

void add_options(CLI::App& command, Options& o) {
    command.add_option("--model,model", o.model, "Model directory")->required()->type_name("DIR");
    auto* prompt = command.add_option("--prompt", o.prompt, "Text to continue (a line end)")
                       ->type_name("TEXT");
    auto* file =
        command.add_option("--file", o.file, "File with the text to continue; - is standard input")
            ->type_name("FILE");
    auto* tokens =
        command.add_option("--prompt-tokens", o.prompt_tokens, "Tokens to continue, as 1,2,3")
            ->type_name("N,N,...")
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
    command
        .add_option("--temperature", o.sampling.temperature,
                    "Below 1: bolder choices fade; 0: the likeliest token")
        ->type_name("X")
        ->check(at_least(0))
        ->capture_default_str();
    command.add_option("--top-k", o.sampling.top_k, "Choose among the K likeliest tokens; 0: all")
        ->type_name("K")
        ->check(whole(0))
        ->capture_default_str();
    command
        .add_option("--top-p", o.sampling.top_p, "Choose among the likeliest tokens that sum to P")
        ->type_name("P")
        ->capture_default_str();
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
        "  vkformer generate --model tokens-only --prompt-tokens 464,3616 --top-p 0.9 --json\n"
        "\n"
        "Ctrl-C ends it after the token at hand, with exit status 130.\n");
    command->callback([options, &common] {
        validate(options->sampling);
        const Model model = open_model(options->model);
        const std::vector<std::int32_t> prompt = read_prompt(*options, model);
        catch_interrupts();
        with_device(common, [&](Device& device) { run(device, common, *options, model, prompt); });
    });
}

}  // namespace vkf
