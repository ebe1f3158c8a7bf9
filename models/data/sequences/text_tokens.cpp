#include "models/data/sequences/text_tokens.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "models/tokenizers/bpe/bpe.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"

namespace vkf {

namespace {

constexpr std::string_view WHITE_SPACE = " \t\n\r\f\v";
constexpr std::string_view BEGIN = "[CLS]";
constexpr std::size_t MOST_WORDS = 100'000;

/// A byte-level model of the 256 bytes and these words.
BpeModel byte_level_model(const std::set<std::string, std::less<>>& words) {
    BpeModel model;
    for (std::size_t byte = 0; byte < 256; ++byte) model.tokens.emplace_back(1, static_cast<char>(byte));
    std::iota(model.byte_tokens.begin(), model.byte_tokens.end(), 0);
    for (const std::string& word : words)
        if (word.size() > 1 && word != BEGIN) model.tokens.push_back(word);
    const auto begin = static_cast<std::int32_t>(model.tokens.size());
    model.tokens.emplace_back(BEGIN);
    model.added.push_back({std::string(BEGIN), begin});
    model.hidden.push_back(begin);
    model.bounds.begin = begin;
    return model;
}

SavedTokenizer saved(BpeModel model) {
    constexpr const char* file = "tokenizer.json";
    std::map<std::string, std::string> files{{file, tokenizer_json(model)}};
    return {std::make_shared<BpeTokenizer>(std::move(model)), file, std::move(files)};
}

}  // namespace

SavedTokenizer byte_tokenizer() {
    return saved(byte_level_model({}));
}

SavedTokenizer word_tokenizer(std::span<const std::string> texts) {
    std::set<std::string, std::less<>> words;
    for (std::string_view rest : texts)
        while (true) {
            rest.remove_prefix(std::min(rest.find_first_not_of(WHITE_SPACE), rest.size()));
            if (rest.empty()) break;
            const std::string_view word = rest.substr(0, rest.find_first_of(WHITE_SPACE));
            if (words.find(word) == words.end()) words.emplace(word);
            rest.remove_prefix(word.size());
            require(words.size() <= MOST_WORDS, "the texts have more than ", MOST_WORDS,
                    " different words, wanted --tokens bytes or --tokenizer");
        }
    BpeModel model = byte_level_model(words);
    model.whole_words = true;
    model.splits.push_back({Pattern("\\S+", "white space"), true});
    return saved(std::move(model));
}

}  // namespace vkf
