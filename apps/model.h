// A model directory as the subcommands use it.
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
#include "models/families/family.h"
#include "models/files/image_processor.h"
#include "models/tokenizers/load_tokenizer.h"
#include "program/state.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

/// Path of a model: its directory and, if that holds only adapters, the directory of their base, a whole model.
struct ModelPath {
    ModelPath(std::filesystem::path at, std::filesystem::path base_at = {}, bool verified = true)
        : directory(std::move(at)), base(std::move(base_at)), verify(verified) {}

    std::filesystem::path directory;
    std::filesystem::path base;  // empty: adapter_config.json names it
    bool verify = true;          // check the files against the manifest, if there is one, when weights are read
};

/// Adds --no-verify, which reads a model without comparing its files with its manifest.
void add_verify_option(cli::Command& command, bool& verify);

/// Throws InputError naming a file that differs from the directory's manifest, and the option that reads it anyway.
void require_undamaged(const std::filesystem::path& directory);

/// Adds --base, the base model of adapters that a command is given.
void add_base_option(cli::Command& command, std::string& base);

struct Model {
    std::filesystem::path path;  // directory of the whole model
    ModelConfig config;
    std::filesystem::path adapters = {};  // weights of the adapters, if the model has some on disk
    /// Says how the weights are read if the directory is one of another family, with which a fresh model begins.
    const PretrainedFamily* pretrained = nullptr;

    const Family& family() const { return config.family(); }
    /// Reads the weights into states that a program has reserved. Throws InputError.
    void load(const Parameters& parameters, State& state) const;
    /// Reads only the frozen weights under adapters, as load() does.
    void load_frozen(const Parameters& parameters, State& state) const;
};

/// A language model's directory, with its tokenizer.
struct LanguageModel : Model {
    std::optional<SavedTokenizer> tokenizer;  // if there is one

    /// Contents by name of the files, apart from config.json and weights, that models made from this one have: the
    /// tokenizer's files, and the generation settings.
    std::map<std::string, std::string> side_files() const;
    /// Number of tokens that have a meaning: the tokenizer's, else all. A table may have more rows, which are padding.
    std::int64_t vocabulary() const {
        return tokenizer ? static_cast<std::int64_t>((*tokenizer)->size()) : config.size(Dimension::vocab_size).value;
    }
};

/// Tokenizers of a translation model: one for both sides, or one for each.
struct PairTokenizers {
    SavedTokenizer source, target;
    bool common_files = false;  // both are read from the same files

    bool shared() const { return source.tokenizer == target.tokenizer; }
    /// Contents of all files by name, as a model directory has them.
    std::map<std::string, std::string> files() const;
};

/// The tokenizers of a directory: those of a Marian model, or those whose files begin with "source." and "target.", or
/// its tokenizer. Nothing if the directory has none.
std::optional<PairTokenizers> find_pair_tokenizers(const std::filesystem::path& directory);

/// Vocabularies and marks for a fresh model. Targets end with the token that ends texts of both tokenizers, or with a
/// token behind both vocabularies if there is none; they begin with the target tokenizer's first token, or the end.
TranslationTokens translation_tokens(const PairTokenizers& tokenizers);

/// A translation model's directory, with its tokenizers.
struct TranslationModel : Model {
    PairTokenizers tokenizers;

    /// As LanguageModel::side_files, with generation settings only if the model's files have some besides its tokens.
    std::map<std::string, std::string> side_files() const;
};

/// A vision model's directory, with its image processor.
struct ImageModel : Model {
    /// Image processor that the directory describes (find_image_processor), with the named statistics if a name is
    /// given. Throws InputError if there are none.
    ImageProcessor processor(const std::string& statistics) const;
};

/// A sequence classifier's directory, with its tokenizer.
struct SequenceModel : Model {
    SavedTokenizer tokenizer;
};

/// Read only small parts: config.json and, if `weights`, their table of contents; open_language_model also reads the
/// tokenizer, if there is one, and takes the mask token from it if config.json has none. Throw InputError naming the
/// missing or wrong part, also for models of the other kind.
LanguageModel open_language_model(const ModelPath& path);
Model open_untokenized_model(const ModelPath& path, bool weights = true);
ImageModel open_image_model(const ModelPath& path, bool weights = true);
/// Throws InputError, too, if the directory has no tokenizers, or tokenizers of more tokens than the model.
TranslationModel open_translation_model(const ModelPath& path, bool weights = true);
Model open_untokenized_translation_model(const ModelPath& path, bool weights = true);
/// Throws InputError, too, if the directory has no tokenizer, or one of more tokens than the model.
SequenceModel open_sequence_model(const ModelPath& path, bool weights = true);
Model open_untokenized_sequence_model(const ModelPath& path, bool weights = true);

/// A sequence classifier that begins with the model of another family in `path`, if the family of `fresh` can; nothing
/// if the directory holds a model of the same family. Throws InputError as open_sequence_model does, and for adapters.
std::optional<SequenceModel> open_pretrained(const ModelPath& path, ModelConfig fresh);

/// True if the directory holds adapters.
bool holds_adapters(const std::filesystem::path& directory);
/// Directory of the whole model. Throws InputError if it is not one, or if the base of adapters is not given.
std::filesystem::path whole_model(const ModelPath& path);
/// Family of the model at `path`.
const Family& family_in(const ModelPath& path);

/// Opens data in the model's tokens, to train or evaluate the model on. Throws InputError if the data's vocabulary is
/// not the model's: other tokens (naming both files and the first token that differs), text for a model without a
/// tokenizer, or a token beyond the vocabulary.
TokenDataset open_data(const LanguageModel& model, const std::filesystem::path& path);

}  // namespace vkf
