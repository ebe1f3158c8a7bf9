#include "models/tokenizers/tokenizer.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "models/tokenizers/encoder.h"

namespace vkf {

std::string shown_bytes(std::string_view bytes) {
    const CodePoint first = bytes.empty() ? CodePoint{} : decode_utf8(bytes, 0);
    if (first.bytes == 0 || first.bytes < bytes.size()) {
        return one_line(nlohmann::json(bytes));
    }
    char number[16];
    std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(first.value));
    const bool control = first.value < 0x20 || (first.value >= 0x7f && first.value < 0xa0);
    return control ? number : text("'", bytes, "' (", number, ")");
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens) const {
    std::string text;
    for (const std::int32_t token : tokens) text += bytes(token);
    if (prepends_space() && text.starts_with(' ')) text.erase(0, 1);
    if (appends_space() && text.ends_with(' ')) text.pop_back();
    return text;
}

std::size_t Tokenizer::index_of(std::int32_t token) const {
    const auto index = static_cast<std::size_t>(token);  // a negative one becomes huge
    require(index < size(), "token ", token, " is not among the vocabulary's ", size(), " ", unit());
    return index;
}

std::string Tokenizer::difference(const Tokenizer& wanted) const {
    const auto name = [](const Tokenizer& tokenizer, std::size_t token, const char* none) {
        return token < tokenizer.size() ? shown_bytes(tokenizer.bytes(static_cast<std::int32_t>(token))) : none;
    };
    for (std::size_t token = 0; token < std::max(size(), wanted.size()); ++token) {
        const auto number = static_cast<std::int32_t>(token);
        const bool both = token < size() && token < wanted.size();
        if (both && bytes(number) == wanted.bytes(number)) continue;
        return text("token ", token, " is ", name(*this, token, "missing"), ", wanted ", name(wanted, token, "none"));
    }
    return {};
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
