// All options of training a translation model.
#pragma once

#include <optional>
#include <string>

#include "apps/model.h"
#include "apps/train/step_options.h"
#include "models/data/pairs/parallel_text.h"

namespace vkf {

/// Files of one set of pairs: a source and a target, or one file of pairs.
struct PairFiles {
    std::string source, target, pairs;

    bool given() const { return !source.empty() || !target.empty() || !pairs.empty(); }
    /// The file, or the source's.
    const std::string& name() const { return pairs.empty() ? source : pairs; }
    ParallelText read(const PairKeys& keys) const;
};

struct TranslationRunOptions : StepRunOptions {
    explicit TranslationRunOptions(const Family& family);

    PairFiles training, validation;
    std::string fields = "source,target";
    std::string tokenizer, source_tokenizer, target_tokenizer;
    std::int64_t buckets = 8;

    void declare(cli::Command& app);
    /// With --init-from or --resume, takes the options of that model and run. Throws InputError if given options
    /// contradict them.
    void load_origin(const Common& common);
    /// Throw InputError naming the option, its value and the wanted values: an option of the data, and any other.
    void check_data() const;
    void check();
    /// The tokenizers that the options name; nothing if they name none.
    std::optional<PairTokenizers> given_tokenizers() const;
    /// Model that the flags describe, for these tokenizers.
    ModelConfig fresh_model(const TranslationTokens& tokens) const;
};

}  // namespace vkf
