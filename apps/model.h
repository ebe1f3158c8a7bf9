// A model directory as the subcommands see it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/data/dataset.h"
#include "models/family.h"
#include "models/images/normalise.h"
#include "models/tokenizers/load_tokenizer.h"
#include "program/state.h"

namespace vkf {

struct Model {
    std::filesystem::path path;
    ModelConfig config;

    const Family& family() const { return config.family(); }
    /// Reads the weights into states that a program has reserved. Throws InputError.
    void load(const Parameters& parameters, State& state) const;
};

/// A language model's directory, with its tokenizer.
struct LanguageModel : Model {
    std::optional<SavedTokenizer> tokenizer;  // if there is one

    /// Tokens that mean something: the tokenizer's, else all. A table may have more rows, which are padding.
    std::int64_t vocabulary() const {
        return tokenizer ? static_cast<std::int64_t>((*tokenizer)->size()) : config.size(Dimension::vocab_size).value;
    }
};

/// A vision model's directory, with what makes images its input.
struct ImageModel : Model {
    /// Those that go by a name, or without one preprocessor_config.json's. Throws InputError if there are none.
    Statistics statistics(const std::string& name) const;
};

/// Read what is small: config.json and, if weights are wanted, their table of contents; open_language_model the
/// tokenizer, too, if there is one. Throw InputError naming what is missing or wrong, also for models of the other
/// kind.
LanguageModel open_language_model(const std::filesystem::path& path);
Model open_untokenized_model(const std::filesystem::path& path, bool weights = true);
ImageModel open_image_model(const std::filesystem::path& path, bool weights = true);

/// The family of the model that the directory holds. Finishes a publication that was cut short.
const Family& family_in(const std::filesystem::path& path);

/// The data in the model's tokens, to train it on or to judge it by. Throws InputError where the data's vocabulary is
/// not the model's: other tokens (naming both files and the first that differs), text for a model without a tokenizer,
/// or a token beyond it.
TokenDataset open_data(const LanguageModel& model, const std::filesystem::path& path);

}  // namespace vkf
