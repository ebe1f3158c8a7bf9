#include "models/tokenizers/pre_tokenizer.h"

namespace vkf {

const char* const GPT2_PATTERN = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

PreTokenizer::PreTokenizer(const std::vector<Split>& splits) {
    for (const Split& split : splits) splits_.emplace_back(Matcher(split.pattern), split.drop_between);
}

}  // namespace vkf
