// A model directory as the subcommands see it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/data/dataset.h"
#include "models/data/text.h"
#include "models/gpt2.h"
#include "models/images/normalise.h"
#include "models/vit.h"
#include "program/state.h"

namespace vkf {

struct Model {
    std::filesystem::path path;
    Gpt2Config config;
    std::optional<Characters> characters;  // of chars.json, if there is one

    /// Tokens that mean something: the characters, else all.
    std::int64_t vocabulary() const {
        return characters ? static_cast<std::int64_t>(characters->size()) : config.vocab_size;
    }
    /// Reads the weights into states that a program has reserved.
    void load(const Parameters& parameters, State& state) const;
};

/// Reads what is small: config.json, the tokenizer and, if weights are wanted, their table of contents. Throws
/// InputError naming what is missing or wrong, also for models of another kind.
Model open_model(const std::filesystem::path& path, bool weights = true);

/// A vision transformer's directory.
struct ImageModel {
    std::filesystem::path path;
    VitConfig config;

    void load(const Parameters& parameters, State& state) const;
    /// Those that go by a name, or without one preprocessor_config.json's. Throws InputError if there are none.
    Statistics statistics(const std::string& name) const;
};

ImageModel open_image_model(const std::filesystem::path& path, bool weights = true);

/// "gpt2", "vit" or "llama": what kind of model the directory holds. Finishes a publication that was cut short.
std::string model_type(const std::filesystem::path& path);

/// The data in the model's tokens, to train it on or to judge it by. Throws InputError where the data's vocabulary is
/// not the model's: other characters (naming both files and the first that differs), text for a model that has none, or
/// a token beyond it.
TokenDataset open_data(const Model& model, const std::filesystem::path& path);

}  // namespace vkf
