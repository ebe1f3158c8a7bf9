#include "models/data/pairs/sentence_pairs.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace vkf {

namespace {

Tokens encode_line(const Tokenizer& tokenizer, const std::string& line, const std::string& file, std::size_t number,
                   std::int32_t end) try {
    Tokens tokens = tokenizer.encode(line);
    tokens.push_back(end);
    return tokens;
} catch (const InputError& error) {
    throw InputError(file, ": sentence ", number, ": ", error.what());
}

}  // namespace

SentencePairs::SentencePairs(const ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                             std::int32_t end, std::int64_t longest) {
    for (std::size_t i = 0; i < text.source.size(); ++i) {
        const Tokens of_source = encode_line(source, text.source[i], text.source_name, i + 1, end);
        const Tokens of_target = encode_line(target, text.target[i], text.target_name, i + 1, end);
        if (std::ssize(of_source) > longest || std::ssize(of_target) > longest) {
            ++too_long_;
            continue;
        }
        kept_.push_back(i);
        target_tokens_ += std::ssize(of_target);
        for (const Tokens& sentence : {of_source, of_target}) {
            tokens_.insert(tokens_.end(), sentence.begin(), sentence.end());
            begins_.push_back(tokens_.size());
        }
    }
    require(!kept_.empty(), text.source_name, ": every pair of sentences has more than ", longest, " tokens");
}

std::int64_t SentencePairs::length(std::size_t i) const {
    return static_cast<std::int64_t>(std::max(source(i).size(), target(i).size()));
}

}  // namespace vkf
