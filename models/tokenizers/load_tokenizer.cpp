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
#include "models/tokenizers/marian/marian_tokenizer.h"
#include "models/tokenizers/sentencepiece/sentencepiece.h"
#include "models/tokenizers/token_settings.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"
#include "models/tokenizers/wordpiece/vocab_txt.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;

// Files next to a vocabulary: properties of its tokens, and the form of conversations.
constexpr std::array SIDE_FILES{TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP, ADDED_TOKENS,
                                std::string_view("chat_template.jinja")};

/// Files of one tokenizer in a directory.
struct TokenizerFolder {
    fs::path directory;
    std::string prefix;

    fs::path operator/(std::string_view name) const { return directory / (prefix + std::string(name)); }
};

/// A form in which a tokenizer is stored on disk.
struct TokenizerFormat {
    std::string_view file;    // identifies the form
    std::string_view beside;  // second file that must be there; or ""
    bool settings;            // true if there may be side files
    std::shared_ptr<const Tokenizer> (*read)(const TokenizerFolder& in, const TokenSettings& settings);

    std::vector<std::string_view> files() const {
        std::vector<std::string_view> names{file};
        if (!beside.empty()) names.push_back(beside);
        if (settings) names.insert(names.end(), SIDE_FILES.begin(), SIDE_FILES.end());
        return names;
    }
    SavedTokenizer load(const TokenizerFolder& in) const {
        const TokenSettings said = settings ? TokenSettings::read(in.directory, in.prefix) : TokenSettings();
        SavedTokenizer saved{read(in, said), in / file, {}, in.prefix};
        const bool normalizes = dynamic_cast<const WordPiece*>(saved.tokenizer.get()) != nullptr;
        for (const auto& [key, value] :
             {std::pair("do_lower_case", said.lowercase), {"strip_accents", said.strip_accents}})
            require(normalizes || !value.value_or(false), (in / TOKENIZER_CONFIG).string(), ": '", key,
                    "' is true, which is not supported, wanted false");
        const bool space = saved->prepends_space();
        require(said.prefix_space.value_or(space) == space, (in / TOKENIZER_CONFIG).string(), ": add_prefix_space is ",
                space ? "false, wanted true" : "true, wanted false", " as in ", file);
        for (const std::string_view name : files())
            if (file_exists(in / name))
                saved.files[in.prefix + std::string(name)] = read_small_text(in / name, VOCABULARY_LIMIT);
        return saved;
    }
};

using Loaded = std::shared_ptr<const Tokenizer>;

// The first form that a directory has is its tokenizer.
constexpr std::array FORMATS{
    TokenizerFormat{"tokenizer.json", "", true,
                    [](const TokenizerFolder& in, const TokenSettings& settings) -> Loaded {
                        return load_tokenizer_json(in / "tokenizer.json", settings);
                    }},
    TokenizerFormat{"vocab.json", "merges.txt", true,
                    [](const TokenizerFolder& in, const TokenSettings& settings) -> Loaded {
                        return std::make_shared<BpeTokenizer>(
                            read_gpt2_files(in / "vocab.json", in / "merges.txt", settings));
                    }},
    TokenizerFormat{"encoder.json", "vocab.bpe", true,
                    [](const TokenizerFolder& in, const TokenSettings& settings) -> Loaded {
                        return std::make_shared<BpeTokenizer>(
                            read_gpt2_files(in / "encoder.json", in / "vocab.bpe", settings));
                    }},
    TokenizerFormat{"tokenizer.model", "", true,
                    [](const TokenizerFolder& in, const TokenSettings& settings) -> Loaded {
                        return SentencePiece::load(in / "tokenizer.model", settings);
                    }},
    TokenizerFormat{"vocab.txt", "", true,
                    [](const TokenizerFolder& in, const TokenSettings& settings) -> Loaded {
                        return std::make_shared<WordPiece>(read_vocab_txt(in / "vocab.txt", settings));
                    }},
    TokenizerFormat{"bpe.codes", "", false,
                    [](const TokenizerFolder& in, const TokenSettings&) -> Loaded {
                        return std::make_shared<SubwordNmt>(SubwordCodes::read(in / "bpe.codes"));
                    }},
    TokenizerFormat{"chars.json", "", false,
                    [](const TokenizerFolder& in, const TokenSettings&) -> Loaded {
                        return std::make_shared<Characters>(Characters::load(in / "chars.json"));
                    }},
};

constexpr const char* WANTED =
    "wanted tokenizer.json, vocab.json and merges.txt, encoder.json and vocab.bpe, tokenizer.model, vocab.txt, "
    "bpe.codes or chars.json";

}  // namespace

std::optional<SavedTokenizer> find_tokenizer(const fs::path& directory, std::string_view prefix) {
    const TokenizerFolder in{directory, std::string(prefix)};
    for (const TokenizerFormat& format : FORMATS)
        if (file_exists(in / format.file)) return format.load(in);
    return {};
}

SavedTokenizer load_tokenizer(const fs::path& path, std::string_view prefix) {
    const std::string wanted = prefix.empty() ? WANTED : text(WANTED, ", with ", prefix, " before each name");
    require(fs::exists(path), "tokenizer ", path.string(), ": does not exist, ", wanted);
    if (!fs::is_directory(path)) {
        const TokenizerFolder in{path.parent_path(), std::string(prefix)};
        for (const TokenizerFormat& format : FORMATS) {
            const bool named = path == in / format.file || (!format.beside.empty() && path == in / format.beside);
            if (named) return format.load(in);
        }
        throw InputError("tokenizer ", path.string(), ": has the name of no tokenizer's file, ", wanted);
    }
    std::optional<SavedTokenizer> found = find_tokenizer(path, prefix);
    require(found.has_value(), path.string(), " has no tokenizer, ", wanted);
    return *found;
}

std::map<std::string, std::string> files_with_prefix(const SavedTokenizer& saved, std::string_view prefix) {
    std::map<std::string, std::string> files;
    for (const auto& [name, content] : saved.files)
        files.emplace(std::string(prefix) += name.substr(saved.prefix.size()), content);
    return files;
}

std::vector<std::string> tokenizer_files() {
    std::vector<std::string> all;
    for (const std::string_view prefix : {std::string_view(), SOURCE_PREFIX, TARGET_PREFIX})
        for (const TokenizerFormat& format : FORMATS)
            for (const std::string_view name : format.files()) {
                std::string full = std::string(prefix) += name;
                if (std::ranges::find(all, full) == all.end()) all.push_back(std::move(full));
            }
    for (const std::string_view name : marian_tokenizer_files())
        if (std::ranges::find(all, name) == all.end()) all.emplace_back(name);
    return all;
}

}  // namespace vkf
