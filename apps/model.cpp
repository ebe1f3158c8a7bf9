#include "apps/model.h"

#include <utility>

#include "apps/image_options.h"
#include "base/error.h"
#include "base/file.h"
#include "models/files/config_json.h"
#include "models/files/image_processor.h"
#include "models/files/stored_weights.h"
#include "models/files/weights.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

/// "n_embd 16, n_layer 2, …"
std::string sizes_of(ModelConfig config) {
    std::string list;
    for (const Field& field : config.fields())
        if (std::holds_alternative<Whole>(field.value))
            list += text(list.empty() ? "" : ", ", field.key, " ", shown(field));
    return list;
}

/// Refuses a configuration that the weights cannot possibly fit, before a graph of that size is made; load_weights
/// judges every tensor afterwards.
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

/// A model of the kind that a command is for.
Model open_model(const fs::path& path, bool images, bool weights) {
    const Family& family = family_in(path);
    const fs::path config = path / "config.json";
    require(family.images() == images, config.string(), ": 'model_type' is '", family.model_type, "', wanted a ",
            images ? "vision" : "language", " model");
    Model model{path, read_config_json(config)};
    if (weights) check_proportion(model);
    return model;
}

}  // namespace

const Family& family_in(const fs::path& path) {
    std::error_code ignored;
    require(fs::is_directory(path, ignored), "model ", path.string(),
            fs::exists(path, ignored) ? " is not a directory" : " does not exist",
            ", wanted a directory with config.json and model.safetensors");
    settle_files(path);
    return read_family(path / "config.json");
}

void Model::load(const Parameters& parameters, State& state) const {
    load_weights(path / "model.safetensors", parameters.list(), state, family().tensors);
}

LanguageModel open_language_model(const fs::path& path) {
    LanguageModel model{open_model(path, false, true), find_tokenizer(path)};
    if (!model.tokenizer) return model;
    const Tokenizer& tokenizer = **model.tokenizer;
    const Size vocabulary = model.config.size(Dimension::vocab_size);
    require(std::cmp_less_equal(tokenizer.size(), vocabulary.value), model.tokenizer->path.string(), ": has ",
            tokenizer.size(), " ", tokenizer.unit(), ", but config.json's ", vocabulary.key, " is ", vocabulary.value);
    return model;
}

Model open_untokenized_model(const fs::path& path, bool weights) {
    return open_model(path, false, weights);
}

ImageModel open_image_model(const fs::path& path, bool weights) {
    return {open_model(path, true, weights)};
}

Statistics ImageModel::statistics(const std::string& name) const {
    if (!name.empty()) return statistics_named(name);
    const fs::path file = path / "preprocessor_config.json";
    std::error_code ignored;
    require(fs::exists(file, ignored), file.string(),
            " is missing: how images are normalised must be given, --statistics");
    return read_image_processor(file);
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
