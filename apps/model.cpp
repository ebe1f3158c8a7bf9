#include "apps/model.h"

#include "apps/vit_options.h"
#include "base/error.h"
#include "base/file.h"
#include "base/safetensors.h"
#include "models/files/config_keys.h"
#include "models/files/gpt2_config.h"
#include "models/files/image_processor.h"
#include "models/files/vit_config.h"
#include "models/files/weights.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

/// What a model's matrices amount to, for check_proportion.
struct Proportions {
    std::int64_t layers;
    const char* layers_key;
    double matrix_elements;  // at least
    std::string sizes;       // for people
};

Proportions proportions(const Gpt2Config& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double per_layer = 4 * number(c.n_embd) + 2 * number(c.inner());
    const double rows = number(c.n_layer) * per_layer + number(c.vocab_size) + number(c.n_positions);
    return {c.n_layer, "n_layer", number(c.n_embd) * rows,
            text("n_layer ", c.n_layer, ", n_embd ", c.n_embd, ", n_inner ", c.inner(), ", vocab_size ", c.vocab_size,
                 " and n_positions ", c.n_positions)};
}

Proportions proportions(const VitConfig& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double per_layer = 4 * number(c.inner()) + 2 * number(c.intermediate_size);
    const double rows = number(c.num_hidden_layers) * per_layer + number(c.num_labels) + number(c.patches());
    return {c.num_hidden_layers, "num_hidden_layers", number(c.hidden_size) * rows,
            text("num_hidden_layers ", c.num_hidden_layers, ", hidden_size ", c.hidden_size, ", intermediate_size ",
                 c.intermediate_size, ", image_size ", c.image_size, " and num_labels ", c.num_labels)};
}

/// Refuses a configuration that the weights cannot possibly fit, before a graph of that size is made; load_weights
/// judges every tensor afterwards.
void check_proportion(const Proportions& model, const fs::path& path) {
    const Safetensors file = Safetensors::open(path / "model.safetensors");
    require(model.layers <= std::ssize(file.tensors()), file.path().string(), ": has ", file.tensors().size(),
            " tensors, but config.json's ", model.layers_key, " is ", model.layers);
    const double least = 2 * model.matrix_elements;  // bytes in half precision
    double stored = 0;
    for (const StoredTensor& tensor : file.tensors()) stored += static_cast<double>(tensor.bytes.size());
    require(least < 1e9 || least < 4 * stored, file.path().string(), ": ", stored,
            " bytes cannot be the weights of a model with ", model.sizes);
}

}  // namespace

std::string model_type(const fs::path& path) {
    std::error_code ignored;
    require(fs::is_directory(path, ignored), "model ", path.string(),
            fs::exists(path, ignored) ? " is not a directory" : " does not exist",
            ", wanted a directory with config.json and model.safetensors");
    settle_files(path);
    return read_model_type(path / "config.json");
}

void Model::load(const Parameters& parameters, State& state) const {
    load_weights(path / "model.safetensors", parameters.list(), "transformer.", state);
}

Model open_model(const fs::path& path, bool weights) {
    const std::string type = model_type(path);
    const fs::path config = path / "config.json", chars = path / "chars.json";
    require(type == "gpt2", config.string(), ": 'model_type' is '", type, "', this subcommand wants 'gpt2'");
    Model model{path, read_gpt2_config(config), {}};
    std::error_code ignored;
    if (fs::exists(chars, ignored)) {
        model.characters = Characters::load(chars);
        require(static_cast<std::int64_t>(model.characters->size()) <= model.config.vocab_size, chars.string(),
                ": has ", model.characters->size(), " characters, but config.json's vocab_size is ",
                model.config.vocab_size);
    }
    if (weights) check_proportion(proportions(model.config), path);
    return model;
}

void ImageModel::load(const Parameters& parameters, State& state) const {
    load_weights(path / "model.safetensors", parameters.list(), "", state);
}

Statistics ImageModel::statistics(const std::string& name) const {
    if (!name.empty()) return statistics_named(name);
    const fs::path file = path / "preprocessor_config.json";
    std::error_code ignored;
    require(fs::exists(file, ignored), file.string(),
            " is missing: how images are normalised must be given, --statistics");
    return read_image_processor(file);
}

ImageModel open_image_model(const fs::path& path, bool weights) {
    const std::string type = model_type(path);
    require(type == "vit", (path / "config.json").string(), ": 'model_type' is '", type, "', wanted 'vit'");
    const ImageModel model{path, read_vit_config(path / "config.json")};
    if (weights) check_proportion(proportions(model.config), path);
    return model;
}

TokenDataset open_data(const Model& model, const fs::path& path) {
    const fs::path chars = model.path / "chars.json";
    const auto characters_of = [&](std::string_view words) {
        try {
            return model.characters->encode(words);
        } catch (const InputError& error) {
            throw InputError(error.what(), " in ", chars.string());
        }
    };
    TokenDataset::Encode encode;
    if (model.characters) encode = characters_of;
    TokenDataset data = TokenDataset::open(path, encode);
    data.require_below(static_cast<std::size_t>(model.vocabulary()),
                       model.characters ? text(chars.string(), " has ", model.characters->size())
                                        : text((model.path / "config.json").string(), "'s vocab_size"));
    if (!data.characters()) return data;
    require(model.characters.has_value(), "data ", path.string(), ": is of characters, but model ", model.path.string(),
            " has no chars.json that says which are its tokens, wanted a token file");
    const std::string difference = data.characters()->difference(*model.characters);
    require(difference.empty(), (path / "chars.json").string(), ": its characters are not those of ", chars.string(),
            ": ", difference);
    return data;
}

}  // namespace vkf
