#include "models/tokenizers/tokenizer_json/pre_tokenizer.h"

#include <algorithm>

namespace vkf {

const char* const GPT2_PATTERN = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::vector<Split> splits_before_spaces(std::span<const std::string> tokens) {
    bool line_ends = std::ranges::find(tokens, "\n") != tokens.end();
    if (std::ranges::find(tokens, " ") == tokens.end()) return {};
    for (const std::string& token : tokens) {
        const std::size_t other = token.find_first_not_of(' ');
        if (other != token.npos && token.find(' ', other) != token.npos) return {};
        if (token.size() > 1 && token.find('\n') != token.npos) line_ends = false;
    }
    return {{Pattern(line_ends ? "(?: +|\n)[^ \n]*|[^ \n]+" : " +[^ ]*|[^ ]+", "words")}};
}

PreTokenizer::PreTokenizer(const std::vector<Split>& splits) {
    for (const Split& split : splits) splits_.emplace_back(Matcher(split.pattern), split.drop_between);
}

}  // namespace vkf
