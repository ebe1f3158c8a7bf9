#include "apps/model.h"

#include <algorithm>
#include <utility>

#include "apps/cli/command.h"
#include "apps/train/image_options.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/files/published.h"
#include "models/adapters/adapters.h"
#include "models/files/adapter_files.h"
#include "models/files/config_json.h"
#include "models/files/generation_config.h"
#include "models/files/manifest.h"
#include "models/files/stored_weights.h"
#include "models/files/weights.h"
#include "models/masked_language_model.h"
#include "models/tokenizers/marian/marian_tokenizer.h"
#include "models/translation/translation_settings.h"
#include "models/translation_model.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

/// "n_embd 16, n_layer 2, …"
std::string sizes_of(ModelConfig config) {
    std::string list;
    for (const Field& field : config.fields())
        if (std::holds_alternative<IntRange>(field.value))
            list += text(list.empty() ? "" : ", ", field.key, " ", shown(field));
    return list;
}

/// Throws InputError if the weights cannot fit the configuration, before a graph of that size is made; load_weights
/// checks every tensor later.
void check_proportion(const Model& model) {
    const StoredWeights file = StoredWeights::open(model.path / "model.safetensors");
    const std::vector<const StoredTensor*> tensors = file.tensors();
    const Size layers = model.config.size(Dimension::layers);
    require(layers <= std::ssize(tensors), file.path().string(), ": has ", tensors.size(),
            " tensors, but config.json's ", layers.key, " is ", layers.value);
    const double least = 2 * model.family().matrix_elements(model.config);  // bytes in half precision
    double stored = 0;
    for (const StoredTensor* tensor : tensors) stored += static_cast<double>(tensor->bytes.size());
    require(least < 1e9 || least < 4 * stored, file.path().string(), ": ", stored,
            " bytes cannot be the weights of a model with ", sizes_of(model.config));
}

/// Configuration of the model with the adapters that an adapter_config.json describes.
ModelConfig adapted(ModelConfig model, const fs::path& file) {
    LoraConfig lora = read_adapter_config(file).lora;
    for (std::string& target : lora.targets)  // may be whole paths
        if (target.starts_with(model.family().tensors.prefix)) target.erase(0, model.family().tensors.prefix.size());
    try {
        return with_adapters(std::move(model), std::move(lora));
    } catch (const InputError& error) {
        throw InputError(file.string(), ": ", error.what());
    }
}

bool has_weights(const fs::path& directory) {
    return file_exists(directory / "model.safetensors") || file_exists(directory / "model.safetensors.index.json");
}

/// Opens a model. Throws InputError if it is not of the task.
Model open_model(const ModelPath& path, const Task& task, bool weights) {
    const fs::path whole = whole_model(path), config = whole / "config.json";
    const Family& family = read_family(config);
    require(&family.task() == &task, config.string(), ": 'model_type' is '", family.model_type, "', wanted a ",
            task.model);
    Model model{whole, read_config_json(config)};
    const bool adapters = holds_adapters(path.directory);
    if (weights && path.verify) {
        require_undamaged(whole);
        if (adapters) require_undamaged(path.directory);
    }
    if (weights) check_proportion(model);
    if (family.adopt_weights && (weights || has_weights(whole)))
        family.adopt_weights(model.config, StoredWeights::open(whole / "model.safetensors"));
    if (!adapters) return model;
    require(&task == &language_task(), path.directory.string(), ": adapters are of language models, ", whole.string(),
            " is none");
    model.config = adapted(std::move(model.config), path.directory / adapter_config_file);
    model.adapters = path.directory / adapter_weights_file;
    return model;
}

/// Throws InputError if the tokenizer has more tokens than the model.
void require_vocabulary(const SavedTokenizer& tokenizer, const ModelConfig& config) {
    const Size vocabulary = config.size(Dimension::vocab_size);
    require(std::cmp_less_equal(tokenizer->size(), vocabulary.value), tokenizer.path.string(), ": has ",
            tokenizer->size(), " ", tokenizer->unit(), ", but config.json's ", vocabulary.key, " is ",
            vocabulary.value);
}

/// Throws InputError unless the path, of a whole model, is a directory.
void require_directory(const fs::path& path) {
    std::error_code ignored;
    require(fs::is_directory(path, ignored), "model ", path.string(),
            fs::exists(path, ignored) ? " is not a directory" : " does not exist",
            ", wanted a directory with config.json and model.safetensors");
}

/// Base that the adapters in a directory name: a path relative to that directory or to the current one.
fs::path base_of(const fs::path& directory) {
    const fs::path file = directory / adapter_config_file;
    const std::string name = read_adapter_config(file).base;
    require(!name.empty(), file.string(), ": 'base_model_name_or_path' is missing, wanted --base DIR");
    std::error_code ignored;
    for (const fs::path& place : {directory / name, fs::path(name)})
        if (fs::is_directory(place, ignored)) return place;
    throw InputError(file.string(), ": 'base_model_name_or_path' is '", name,
                     "', which is no directory here, wanted one, or --base DIR");
}

}  // namespace

void add_verify_option(cli::Command& command, bool& verify) {
    command.add_flag("!--no-verify", verify, "Read the model also if its files are not as its manifest.json says");
}

void require_undamaged(const fs::path& directory) try {
    verify_checkpoint(directory);
} catch (const InputError& error) {
    throw InputError(error.what(), "; --no-verify reads it all the same");
}

void add_base_option(cli::Command& command, std::string& base) {
    command.add_option("--base", base, "Of adapters: the model they stand beside (where adapter_config.json says)")
        .type_name("DIR");
}

bool holds_adapters(const fs::path& directory) {
    return file_exists(directory / adapter_config_file);
}

fs::path whole_model(const ModelPath& path) {
    require_directory(path.directory);
    const bool adapters = holds_adapters(path.directory);
    require(adapters || path.base.empty(), "--base is for adapters, ", path.directory.string(),
            " has no adapter_config.json");
    if (!adapters) return path.directory;
    const fs::path base = path.base.empty() ? base_of(path.directory) : path.base;
    require_directory(base);
    require(!holds_adapters(base), "base ", base.string(), " of ", path.directory.string(),
            ": holds adapters itself, wanted a whole model (`vkformer merge` makes one)");
    return base;
}

const Family& family_in(const ModelPath& path) {
    return read_family(whole_model(path) / "config.json");
}

void Model::load(const Parameters& parameters, State& state) const {
    if (pretrained) return load_pretrained(path / "model.safetensors", parameters.list(), state, *pretrained);
    load_frozen(parameters, state);
    if (!config.adapters())
        load_weights(path / "model.safetensors", parameters.list(), state, family().tensors);
    else if (!adapters.empty())
        load_weights(adapters, parameters.trained(), state,
                     {.prefix = adapter_prefix(family()), .config = adapter_config_file});
}

void Model::load_frozen(const Parameters& parameters, State& state) const {
    if (config.adapters()) load_weights(path / "model.safetensors", parameters.frozen(), state, family().tensors);
}

LanguageModel open_language_model(const ModelPath& path) {
    Model opened = open_model(path, language_task(), true);
    std::optional<SavedTokenizer> tokenizer = find_tokenizer(opened.path);
    LanguageModel model{std::move(opened), std::move(tokenizer)};
    if (!model.tokenizer) return model;
    require_vocabulary(*model.tokenizer, model.config);
    adopt_mask_token(model.config, model.tokenizer->tokenizer.get());
    return model;
}

std::map<std::string, std::string> LanguageModel::side_files() const {
    auto files = tokenizer ? tokenizer->files : std::map<std::string, std::string>();
    if (const auto said = generation_config_text(path)) files.emplace(generation_config_file, *said);
    return files;
}

Model open_untokenized_model(const ModelPath& path, bool weights) {
    return open_model(path, language_task(), weights);
}

ImageModel open_image_model(const ModelPath& path, bool weights) {
    return {open_model(path, image_task(), weights)};
}

std::map<std::string, std::string> PairTokenizers::files() const {
    if (shared() || common_files) return source.files;
    std::map<std::string, std::string> all = files_with_prefix(source, SOURCE_PREFIX);
    all.merge(files_with_prefix(target, TARGET_PREFIX));
    return all;
}

std::optional<PairTokenizers> find_pair_tokenizers(const fs::path& directory) {
    if (std::optional<MarianTokenizers> marian = find_marian_tokenizers(directory))
        return PairTokenizers{{marian->source, marian->vocabulary, marian->files},
                              {marian->target, marian->target_vocabulary, marian->files},
                              true};
    std::optional<SavedTokenizer> source = find_tokenizer(directory, SOURCE_PREFIX);
    std::optional<SavedTokenizer> target = find_tokenizer(directory, TARGET_PREFIX);
    require(source.has_value() == target.has_value(), directory.string(), ": has a tokenizer of ",
            source ? "sources" : "targets", " only");
    if (source) return PairTokenizers{std::move(*source), std::move(*target)};
    std::optional<SavedTokenizer> both = find_tokenizer(directory);
    if (!both) return {};
    return PairTokenizers{*both, *both};
}

TranslationTokens translation_tokens(const PairTokenizers& tokenizers) {
    const Tokenizer &source = *tokenizers.source, &target = *tokenizers.target;
    const std::size_t behind = std::max(source.size(), target.size());
    const bool ends = target.end_of_text() && source.end_of_text() == target.end_of_text();
    const bool same_numbers = tokenizers.common_files && tokenizers.source.path == tokenizers.target.path;
    TranslationTokens made{.shared = tokenizers.shared() || same_numbers};
    made.end = ends ? *target.end_of_text() : static_cast<std::int32_t>(behind);
    made.begin = ends ? target.begin_of_text().value_or(made.end) : made.end;
    const auto rows = [&](const Tokenizer& tokenizer) {
        return std::max(static_cast<std::int64_t>(tokenizer.size()), std::int64_t{made.end} + 1);
    };
    made.source_vocabulary = rows(source);
    made.target_vocabulary = rows(target);
    return made;
}

TranslationModel open_translation_model(const ModelPath& path, bool weights) {
    Model opened = open_model(path, translation_task(), weights);
    std::optional<PairTokenizers> tokenizers = find_pair_tokenizers(opened.path);
    require(tokenizers.has_value(), opened.path.string(), " has no tokenizer, by which sentences become tokens");
    const TranslationTokens tokens = translation_tokens(opened.config);
    const auto check = [&](const SavedTokenizer& tokenizer, const char* side, std::int64_t vocabulary) {
        require(std::cmp_less_equal(tokenizer->size(), vocabulary), tokenizer.path.string(), ": has ",
                tokenizer->size(), " ", tokenizer->unit(), ", but the model's vocabulary of ", side, " is ",
                vocabulary);
    };
    for (const SavedTokenizer& tokenizer : {tokenizers->source, tokenizers->target})
        require(!tokenizers->common_files || tokenizer->end_of_text() == tokens.end, tokenizer.path.string(),
                ": the end of texts is ", tokenizer->end_of_text().value_or(-1), ", but config.json's eos_token_id is ",
                tokens.end);
    check(tokenizers->source, "sources", tokens.source_vocabulary);
    check(tokenizers->target, "targets", tokens.target_vocabulary);
    return {std::move(opened), std::move(*tokenizers)};
}

std::map<std::string, std::string> TranslationModel::side_files() const {
    std::map<std::string, std::string> files = tokenizers.files();
    const bool said = !path.empty() && has_translation_settings(path);
    if (said) files.emplace(generation_config_file, generation_config_text(path).value());
    return files;
}

Model open_untokenized_translation_model(const ModelPath& path, bool weights) {
    return open_model(path, translation_task(), weights);
}

SequenceModel open_sequence_model(const ModelPath& path, bool weights) {
    Model opened = open_model(path, sequence_task(), weights);
    std::optional<SavedTokenizer> tokenizer = find_tokenizer(opened.path);
    require(tokenizer.has_value(), opened.path.string(), " has no tokenizer, by which texts become tokens");
    require_vocabulary(*tokenizer, opened.config);
    return {std::move(opened), std::move(*tokenizer)};
}

Model open_untokenized_sequence_model(const ModelPath& path, bool weights) {
    return open_model(path, sequence_task(), weights);
}

std::optional<SequenceModel> open_pretrained(const ModelPath& path, ModelConfig fresh) {
    const PretrainedFamily* found = fresh.family().pretrained_by(read_family(whole_model(path) / "config.json"));
    if (!found) return {};
    require(!holds_adapters(path.directory), path.directory.string(),
            " holds adapters, wanted a whole model: `vkformer merge`");
    LanguageModel opened = open_language_model(path);
    require(opened.tokenizer.has_value(), opened.path.string(), " has no tokenizer, by which texts become tokens");
    found->adopt(fresh, opened.config);
    return SequenceModel{{opened.path, std::move(fresh), {}, found}, std::move(*opened.tokenizer)};
}

ImageProcessor ImageModel::processor(const std::string& statistics) const {
    const auto found = find_image_processor(path, config.size(Dimension::image_size));
    require(found || !statistics.empty(), (path / image_processor_file).string(),
            " is missing: how images are normalised must be given, --statistics");
    ImageProcessor made = found.value_or(ImageProcessor());
    if (!statistics.empty()) made.statistics = statistics_named(statistics);
    return made;
}

TokenDataset open_data(const LanguageModel& model, const fs::path& path) {
    const std::string file = model.tokenizer ? model.tokenizer->path.string() : "";
    const auto encode = [&](std::string_view words) {
        try {
            return (*model.tokenizer)->encode(words);
        } catch (const InputError& error) {
            throw InputError(error.what(), " in ", file);
        }
    };
    TokenDataset data = TokenDataset::open(path, model.tokenizer ? encode : TokenDataset::Encode());
    data.require_below(static_cast<std::size_t>(model.vocabulary()),
                       model.tokenizer ? text(file, " has ", model.vocabulary())
                                       : text((model.path / "config.json").string(), "'s ",
                                              model.config.size(Dimension::vocab_size).key));
    if (!data.tokenizer()) return data;
    const SavedTokenizer& its = *data.tokenizer();
    const char* unit = its->unit();
    require(model.tokenizer.has_value(), "data ", path.string(), ": is of ", unit, ", but model ", model.path.string(),
            " has no ", its.path.filename().string(), " that says which are its tokens, wanted a token file");
    const std::string difference = its->difference(**model.tokenizer);
    require(difference.empty(), its.path.string(), ": its ", unit, " are not those of ", file, ": ", difference);
    return data;
}

}  // namespace vkf
