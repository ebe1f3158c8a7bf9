#include "models/tokenizers/tokenizer.h"

#include <algorithm>

#include "models/tokenizers/encoder.h"

namespace vkf {

std::string Tokenizer::decode(std::span<const std::int32_t> tokens) const {
    std::string text;
    for (const std::int32_t token : tokens) text += bytes(token);
    return text;
}

Tokens Tokenizer::encode(std::string_view text, SpecialNames names) const {
    Tokens tokens;
    Encoder encoder(*this, names);
    encoder.feed(text, tokens);
    encoder.finish(tokens);
    return tokens;
}

std::optional<std::int32_t> Tokenizer::added_token(std::string_view name) const {
    const auto found = std::ranges::find(added_.tokens, name, &AddedToken::text);
    return found == added_.tokens.end() ? std::nullopt : std::optional(found->token);
}

}  // namespace vkf
