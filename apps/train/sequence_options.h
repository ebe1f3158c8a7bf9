// All options of training a sequence classifier.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/train/step_options.h"
#include "models/data/sequences/labelled_texts.h"
#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

struct SequenceRunOptions : StepRunOptions {
    explicit SequenceRunOptions(const Family& family);

    std::string label_fields = "text,label";
    std::string tokens = "words";
    std::string tokenizer;
    std::int64_t block_size = 512;
    std::int64_t buckets = 8;

    void declare(cli::Command& app);
    /// With --init-from or --resume, takes the options of that model and run. Throws InputError if given options
    /// contradict them.
    void load_origin(const Common& common);
    /// Throws InputError naming the option, its value and the wanted values.
    void check();
    /// The tokenizer that the options name, or the words or bytes of the texts.
    SavedTokenizer tokenizer_for(std::span<const std::string> texts) const;
    /// Model that the flags describe, for so many tokens and these classes.
    ModelConfig fresh_model(std::int64_t vocabulary, std::vector<std::string> classes) const;
};

}  // namespace vkf
