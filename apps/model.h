// A model directory as the subcommands see it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "models/data/dataset.h"
#include "models/family.h"
#include "models/files/image_processor.h"
#include "models/tokenizers/load_tokenizer.h"
#include "program/state.h"

namespace CLI {
class App;
}

namespace vkf {

/// Where a model is: its directory or, if that holds adapters alone, where the whole model is that they stand beside.
struct ModelPath {
    ModelPath(std::filesystem::path at, std::filesystem::path base_at = {}, bool verified = true)
        : directory(std::move(at)), base(std::move(base_at)), verify(verified) {}

    std::filesystem::path directory;
    std::filesystem::path base;  // else adapter_config.json says
    bool verify = true;          // what is read with weights, where there is a manifest
};

/// Adds --no-verify, which reads a model without comparing its files with its manifest.
void add_verify_option(CLI::App& command, bool& verify);

/// Throws InputError naming a file of the directory that is not as its manifest says, and the option that reads it all
/// the same.
void require_undamaged(const std::filesystem::path& directory);

/// Adds --base, where the adapters that a command is given stand beside.
void add_base_option(CLI::App& command, std::string& base);

struct Model {
    std::filesystem::path path;  // of the whole model
    ModelConfig config;
    std::filesystem::path adapters = {};  // the file of the adapters' weights, if it has some that are there already

    const Family& family() const { return config.family(); }
    /// Reads the weights into states that a program has reserved. Throws InputError.
    void load(const Parameters& parameters, State& state) const;
    /// The same of the weights that adapters stand beside.
    void load_frozen(const Parameters& parameters, State& state) const;
};

/// A language model's directory, with its tokenizer.
struct LanguageModel : Model {
    std::optional<SavedTokenizer> tokenizer;  // if there is one

    /// Files of what is made of it beside config.json and weights, by name: the tokenizer's, and what there is said of
    /// generation.
    std::map<std::string, std::string> side_files() const;
    /// Tokens that mean something: the tokenizer's, else all. A table may have more rows, which are padding.
    std::int64_t vocabulary() const {
        return tokenizer ? static_cast<std::int64_t>((*tokenizer)->size()) : config.size(Dimension::vocab_size).value;
    }
};

/// A vision model's directory, with what makes images its input.
struct ImageModel : Model {
    /// Preprocessing that the directory's files describe (find_image_processor), with the statistics that `statistics`
    /// names, if it is not empty. Throws InputError if neither gives statistics.
    ImageProcessor processor(const std::string& statistics) const;
};

/// Read what is small: config.json and, if weights are wanted, their table of contents; open_language_model the
/// tokenizer, too, if there is one. Throw InputError naming what is missing or wrong, also for models of the other
/// kind.
LanguageModel open_language_model(const ModelPath& path);
Model open_untokenized_model(const ModelPath& path, bool weights = true);
ImageModel open_image_model(const ModelPath& path, bool weights = true);

/// Tells if the directory holds adapters.
bool holds_adapters(const std::filesystem::path& directory);
/// The directory of the whole model. Throws InputError if it is none, or nobody says where the adapters' base is.
std::filesystem::path whole_model(const ModelPath& path);
/// The family of the model there.
const Family& family_in(const ModelPath& path);

/// The data in the model's tokens, to train it on or to judge it by. Throws InputError where the data's vocabulary is
/// not the model's: other tokens (naming both files and the first that differs), text for a model without a tokenizer,
/// or a token beyond it.
TokenDataset open_data(const LanguageModel& model, const std::filesystem::path& path);

}  // namespace vkf
