// All options of training a language model, under nanoGPT's names where nanoGPT has the option.
#pragma once

#include <optional>
#include <string>

#include "apps/train/step_options.h"
#include "models/tokenizers/tokenizer.h"

namespace vkf {

struct LanguageRunOptions : StepRunOptions {
    explicit LanguageRunOptions(const Family& family) : StepRunOptions(family) {
        trainer.gradient_accumulation_steps = 40;  // all defaults are nanoGPT's
    }

    std::int64_t block_size = 1024;
    std::string order = "random", eval_order = "random";
    std::int64_t eval_iters = 200;
    bool eval_train = true;
    std::int64_t sample_tokens = 0;  // of a text to write at each evaluation; 0: none
    std::string sample_prompt = "\n";

    // adapters, which are trained instead of the model
    std::int64_t lora_rank = 0;        // 0: none
    std::optional<double> lora_alpha;  // else twice the rank
    std::string lora_targets;          // else the family's
    std::string lora_base_precision = "fp32";

    void declare(cli::Command& app);
    /// With --init-from or --resume, takes the options of that model and run. Throws InputError if given options
    /// contradict them.
    void load_origin(const Common& common);
    /// Throws InputError naming the option, its value and the wanted values.
    void check();
    /// An existing model, with the adapters that the flags describe if it has none. Throws InputError for targets that
    /// the model lacks.
    ModelConfig adapted(const ModelConfig& there) const;
    /// Model that the flags describe, for data with so many tokens. A model that predicts hidden words takes the
    /// tokenizer's mask token or, if there is none, the token after the data's.
    ModelConfig fresh_model(std::int64_t data_vocabulary, const Tokenizer* tokenizer = nullptr) const;

private:
    void declare_lora(cli::Command& app);
    /// Takes the adapters of an existing model, if it has some.
    void adopt_adapters(const ModelConfig& there, const Common& common);
    LoraConfig adapters() const;
};

}  // namespace vkf
