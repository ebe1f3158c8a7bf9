#include "apps/train/language_options.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "apps/cli/command.h"
#include "apps/model.h"
#include "base/error.h"
#include "models/adapters/adapters.h"
#include "models/data/dataset.h"
#include "models/files/adapter_files.h"
#include "models/masked_language_model.h"

namespace vkf {

namespace {

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    std::istringstream lines(list);
    for (std::string part; std::getline(lines, part, ',');) parts.push_back(part);
    return parts;
}

}  // namespace

void LanguageRunOptions::declare(cli::Command& app) {
    path(app, "--data", data,
         "directory with train.bin and val.bin or with shards, a token file, or text (file or directory)");
    choice(app, "--order", order, "order of the training windows", {"random", "sequential"});
    declare_model(app);
    option(app, "--block-size", block_size, "tokens in a sequence; a model that is there limits it",
           whole(1, 10'000'000));
    choice(app, "--eval-order", eval_order, "which windows evaluations take: drawn ones, or the first of each split",
           {"random", "sequential"});
    option(app, "--eval-iters", eval_iters, "micro-batches per split in an evaluation", whole(1, most_steps));
    flag(app, "--eval-train,!--no-eval-train", eval_train, "evaluate on the training data, too");
    const auto samples = [this] { return sample_tokens > 0; };
    option(app, "--sample-tokens", sample_tokens,
           "tokens of a text to write at each evaluation, into metrics.jsonl; 0: none", whole(0, 1'000'000));
    keep_if(samples);
    effective_if([this] { return sample_tokens == 0 || !model.has(Dimension::mask_token); },
                 "on a model that predicts hidden words");
    option(app, "--sample-prompt", sample_prompt, "beginning of these texts; else a line end", words());
    keep_if(samples);
    effective_if(samples, "without --sample-tokens");
    declare_steps(app);
    declare_lora(app);
    declare_run(app);
    declare_steps_after_run();
}

void LanguageRunOptions::declare_lora(cli::Command& app) {
    const auto adapted = [this] { return lora_rank > 0; };
    const char* const no_adapters = "without --lora-rank";
    option(app, "--lora-rank", lora_rank,
           "rank of low-rank adapters, which are trained instead of --init-from's weights; 0: none", whole(0, 10'000));
    keep_if(adapted);
    option(app, "--lora-alpha", lora_alpha, "what adapters add counts alpha / rank times; else alpha is twice the rank",
           number({.least = 0, .most = 1e6, .least_too = false}));
    effective_if(adapted, no_adapters);
    const std::vector<std::string> usual(family().lora_targets.begin(), family().lora_targets.end());
    option(app, "--lora-targets", lora_targets,
           text("linear maps that have adapters, as A,B,…, or all-linear; else ", joined(usual, ",")).c_str(), words());
    effective_if(adapted, no_adapters);
    choice(app, "--lora-base-precision", lora_base_precision,
           "what weights beside adapters are kept in, in memory, where products alone read them",
           {"fp32", "bfloat16", "float16"});
    keep_if(adapted);
    effective_if(adapted, no_adapters);
}

void LanguageRunOptions::load_origin(const Common& common) {
    if (origin().empty()) return;
    const std::string file = read_origin(common);
    const ModelConfig there = open_untokenized_model(std::filesystem::path(origin()), false).config;
    adopt(there, file);
    const Size context = there.size(Dimension::context);
    require(!given("--block-size") || block_size <= context, origin_of("--block-size"), " is ", block_size, ", but ",
            file, " says ", context.key, " ", context.value, ": wanted at most that");
    block_size = std::min(block_size, context.value);
    adopt_adapters(there, common);
    note_changes(common);
}

void LanguageRunOptions::adopt_adapters(const ModelConfig& there, const Common& common) {
    if (!there.adapters()) {
        require(!resume || lora_rank == 0, origin_of("--lora-rank"), " is ", lora_rank, ", but ", out_dir,
                " is a run of a whole model, wanted a fresh run with --init-from ", out_dir);
        return;
    }
    const LoraConfig& its = *there.adapters();
    const std::string file = (std::filesystem::path(origin()) / adapter_config_file).string();
    adopt("--lora-rank", lora_rank, its.rank, file);
    adopt("--lora-alpha", lora_alpha, std::optional(widened(its.alpha)), file);
    if (given("--lora-targets")) lora_targets = joined(with_adapters(there, adapters()).adapters()->targets, ",");
    adopt("--lora-targets", lora_targets, joined(its.targets, ","), file);
    if (const float dropout = read_adapter_config(file).dropout; dropout > 0)
        note(common, text(file, ": 'lora_dropout' is ", dropout, "; here adapters are trained without"));
}

LoraConfig LanguageRunOptions::adapters() const {
    LoraConfig made{.rank = lora_rank,
                    .alpha = static_cast<float>(lora_alpha.value_or(2.0 * static_cast<double>(lora_rank)))};
    if (!lora_targets.empty()) made.targets = split(lora_targets);
    return made;
}

ModelConfig LanguageRunOptions::adapted(const ModelConfig& there) const try {
    return lora_rank == 0 || there.adapters() ? there : with_adapters(there, adapters());
} catch (const InputError& error) {
    throw InputError(origin_of("--lora-targets"), ": ", error.what());
}

void LanguageRunOptions::check() {
    check_steps();
    require(lora_rank == 0 || !origin().empty(), origin_of("--lora-rank"), " is ", lora_rank,
            ", but there is no --init-from: adapters stand beside a model that is there already");
    if (lora_base_precision != "fp32") trainer.frozen = lora_base_precision == "bfloat16" ? Format::bf16 : Format::f16;
    check_run((max_iters + eval_interval - 1) / eval_interval);
}

ModelConfig LanguageRunOptions::fresh_model(std::int64_t data_vocabulary, const Tokenizer* tokenizer) const {
    ModelConfig made = model;
    adopt_mask_token(made, tokenizer);
    if (made.has(Dimension::mask_token) && made.size(Dimension::mask_token) < 0)
        made.set(Dimension::mask_token, data_vocabulary++);
    if (made.size(Dimension::vocab_size) == 0) made.set(Dimension::vocab_size, data_vocabulary);
    made.set(Dimension::context, block_size);
    set_attention(made);
    return made;
}

}  // namespace vkf
