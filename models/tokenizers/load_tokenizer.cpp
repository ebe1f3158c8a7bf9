#include "models/tokenizers/load_tokenizer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/data/text/text.h"
#include "models/tokenizers/bpe/byte_level_model.h"
#include "models/tokenizers/bpe/gpt2_files.h"
#include "models/tokenizers/bpe/subword_nmt.h"
#include "models/tokenizers/sentencepiece/sentencepiece.h"
#include "models/tokenizers/token_settings.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;

// Files next to a vocabulary: properties of its tokens, and the form of conversations.
constexpr std::array SIDE_FILES{TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP, ADDED_TOKENS,
                                std::string_view("chat_template.jinja")};

BpeModel read_directory_json(const fs::path& directory, const TokenSettings& settings) {
    BpeModel model = read_tokenizer_json(directory / "tokenizer.json", settings);
    for (const std::string_view usual : {END_OF_TEXT, std::string_view("<|end_of_text|>"), std::string_view("</s>")}) {
        const auto found = std::ranges::find(model.added, usual, &AddedToken::text);
        if (!model.bounds.end && found != model.added.end()) model.bounds.end = found->token;
    }
    return model;
}

/// A form in which a tokenizer is stored on disk.
struct TokenizerFormat {
    std::string_view file;    // identifies the form
    std::string_view beside;  // second file that must be there; or ""
    bool settings;            // true if there may be side files
    std::shared_ptr<const Tokenizer> (*read)(const fs::path& directory, const TokenSettings& settings);

    std::vector<std::string_view> files() const {
        std::vector<std::string_view> names{file};
        if (!beside.empty()) names.push_back(beside);
        if (settings) names.insert(names.end(), SIDE_FILES.begin(), SIDE_FILES.end());
        return names;
    }
    SavedTokenizer load(const fs::path& directory) const {
        const TokenSettings said = settings ? TokenSettings::read(directory) : TokenSettings();
        SavedTokenizer saved{read(directory, said), directory / file, {}};
        const bool space = saved->prepends_space();
        require(said.prefix_space.value_or(space) == space, (directory / TOKENIZER_CONFIG).string(),
                ": add_prefix_space is ", space ? "false, wanted true" : "true, wanted false", " as in ", file);
        for (const std::string_view name : files())
            if (file_exists(directory / name))
                saved.files[std::string(name)] = read_small_text(directory / name, VOCABULARY_LIMIT);
        return saved;
    }
};

using Loaded = std::shared_ptr<const Tokenizer>;

// The first form that a directory has is its tokenizer.
constexpr std::array FORMATS{
    TokenizerFormat{"tokenizer.json", "", true,
                    [](const fs::path& in, const TokenSettings& settings) -> Loaded {
                        return std::make_shared<BpeTokenizer>(read_directory_json(in, settings));
                    }},
    TokenizerFormat{"vocab.json", "merges.txt", true,
                    [](const fs::path& in, const TokenSettings& settings) -> Loaded {
                        return std::make_shared<BpeTokenizer>(
                            read_gpt2_files(in / "vocab.json", in / "merges.txt", settings));
                    }},
    TokenizerFormat{"encoder.json", "vocab.bpe", true,
                    [](const fs::path& in, const TokenSettings& settings) -> Loaded {
                        return std::make_shared<BpeTokenizer>(
                            read_gpt2_files(in / "encoder.json", in / "vocab.bpe", settings));
                    }},
    TokenizerFormat{"tokenizer.model", "", true,
                    [](const fs::path& in, const TokenSettings& settings) -> Loaded {
                        return SentencePiece::load(in / "tokenizer.model", settings);
                    }},
    TokenizerFormat{"bpe.codes", "", false,
                    [](const fs::path& in, const TokenSettings&) -> Loaded {
                        return std::make_shared<SubwordNmt>(SubwordCodes::read(in / "bpe.codes"));
                    }},
    TokenizerFormat{"chars.json", "", false,
                    [](const fs::path& in, const TokenSettings&) -> Loaded {
                        return std::make_shared<Characters>(Characters::load(in / "chars.json"));
                    }},
};

constexpr const char* WANTED =
    "wanted tokenizer.json, vocab.json and merges.txt, encoder.json and vocab.bpe, tokenizer.model, bpe.codes or "
    "chars.json";

}  // namespace

std::optional<SavedTokenizer> find_tokenizer(const fs::path& directory) {
    for (const TokenizerFormat& format : FORMATS)
        if (file_exists(directory / format.file)) return format.load(directory);
    return {};
}

SavedTokenizer load_tokenizer(const fs::path& path) {
    require(fs::exists(path), "tokenizer ", path.string(), ": does not exist, ", WANTED);
    if (!fs::is_directory(path)) {
        for (const TokenizerFormat& format : FORMATS) {
            const bool named = path.filename() == format.file || path.filename() == format.beside;
            if (named) return format.load(path.parent_path());
        }
        throw InputError("tokenizer ", path.string(), ": has the name of no tokenizer's file, ", WANTED);
    }
    std::optional<SavedTokenizer> found = find_tokenizer(path);
    require(found.has_value(), path.string(), " has no tokenizer, ", WANTED);
    return *found;
}

std::vector<std::string_view> tokenizer_files() {
    std::vector<std::string_view> all;
    for (const TokenizerFormat& format : FORMATS)
        for (const std::string_view name : format.files())
            if (std::ranges::find(all, name) == all.end()) all.push_back(name);
    return all;
}

}  // namespace vkf
