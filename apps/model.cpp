#include "apps/model.h"

#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "models/files/gpt2_config.h"
#include "models/files/weights.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

std::string alphabet(const Characters& characters) {
    std::vector<std::int32_t> tokens(characters.size());
    std::iota(tokens.begin(), tokens.end(), 0);
    return characters.decode(tokens);
}

}  // namespace

void Model::load(const Parameters& parameters, State& state) const {
    load_weights(path / "model.safetensors", parameters.list(), "transformer.", state);
}

Model open_model(const fs::path& path) {
    std::error_code ignored;
    require(fs::is_directory(path, ignored), "model ", path.string(),
            fs::exists(path, ignored) ? " is not a directory" : " does not exist",
            ", wanted a directory with config.json and model.safetensors");
    settle_files(path);
    const fs::path config = path / "config.json", chars = path / "chars.json";
    const std::string type = read_model_type(config);
    require(type == "gpt2", config.string(), ": 'model_type' is '", type,
            "', this subcommand wants 'gpt2'");
    Model model{path, read_gpt2_config(config), {}};
    if (fs::exists(chars, ignored)) {
        model.characters = Characters::load(chars);
        require(static_cast<std::int64_t>(model.characters->size()) <= model.config.vocab_size,
                chars.string(), ": has ", model.characters->size(),
                " characters, but config.json's vocab_size is ", model.config.vocab_size);
    }
    return model;
}

TokenDataset open_data(const Model& model, const fs::path& path) {
    TokenDataset::Encode encode;
    if (model.characters)
        encode = [&](std::string_view words) { return model.characters->encode(words); };
    TokenDataset data = TokenDataset::open(path, encode);
    if (data.characters() && model.characters)
        require(alphabet(*data.characters()) == alphabet(*model.characters), "data ", path.string(),
                ": its characters are not those of ", (model.path / "chars.json").string());
    return data;
}

void check_tokens(std::string_view where, std::span<const std::int32_t> tokens,
                  std::int64_t vocab_size, bool ignore_negative) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (tokens[i] >= vocab_size || (tokens[i] < 0 && !ignore_negative))
            throw InputError(where, ": token ", i, " is ", tokens[i], ", wanted 0 to ",
                             vocab_size - 1, " (vocab_size ", vocab_size, ")");
}

}  // namespace vkf
