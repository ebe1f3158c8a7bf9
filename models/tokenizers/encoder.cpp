#include "models/tokenizers/encoder.h"

#include <algorithm>

#include "base/error.h"
#include "base/text/utf8.h"

namespace vkf {
namespace {

constexpr std::size_t PORTION = 1 << 16;

// Number of bytes of the character that begins with this byte.
std::size_t character_bytes(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(const std::vector<AddedToken>& added, SpecialNames names) {
    for (const AddedToken& token : added) {
        if (token.special && names == SpecialNames::text) continue;
        sorted_.push_back(&token);
        first_byte_[static_cast<unsigned char>(token.text[0])] = true;
    }
    std::ranges::stable_sort(sorted_, {}, [](const auto* token) -> const std::string& { return token->text; });
}

std::optional<AddedTokenFinder::Found> AddedTokenFinder::find_at(std::string_view text, std::size_t at,
                                                                 bool more) const {
    const std::string_view rest = text.substr(at);
    const AddedToken* longest = nullptr;
    auto begin = sorted_.begin(), end = sorted_.end();  // tokens that begin with the first n bytes of the rest
    for (std::size_t n = 0; begin != end; ++n) {
        if ((*begin)->text.size() == n) longest = *begin;
        while (begin != end && (*begin)->text.size() == n) ++begin;
        if (begin != end && n == rest.size()) {
            if (more) return Found{at, nullptr};  // the following text may complete one of them
            break;
        }
        if (begin == end) break;
        const auto byte = [n](const AddedToken* token) { return static_cast<unsigned char>(token->text[n]); };
        const auto going_on = std::ranges::equal_range(begin, end, static_cast<unsigned char>(rest[n]), {}, byte);
        begin = going_on.begin(), end = going_on.end();
    }
    return longest ? std::optional(Found{at, longest}) : std::nullopt;
}

AddedTokenFinder::Found AddedTokenFinder::find(std::string_view text, std::size_t from, bool more) const {
    if (sorted_.empty()) return {text.size(), nullptr};
    for (std::size_t at = from; at < text.size(); ++at) {
        if (!first_byte_[static_cast<unsigned char>(text[at])]) continue;
        if (const auto found = find_at(text, at, more)) return *found;
    }
    return {text.size(), nullptr};
}

Encoder::Encoder(const Tokenizer& tokenizer, SpecialNames names)
    : finder_(tokenizer.added_tokens(), names), encoder_(tokenizer.text_encoder()) {}

void Encoder::feed(std::string_view text, Tokens& tokens) {
    while (!text.empty()) {
        const std::string_view portion = text.substr(0, PORTION);
        text.remove_prefix(portion.size());
        pending_ += portion;
        take(true, tokens);
    }
}

void Encoder::finish(Tokens& tokens) {
    take(false, tokens);
    encoder_->finish(tokens);
    pending_.clear();
    before_ = 0;
}

std::size_t Encoder::whole_characters(bool more) const {
    const std::string_view text = pending_;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t bytes = decode_utf8(text, at).bytes;
        if (bytes == 0) break;
        at += bytes;
    }
    const bool may_go_on = more && at < text.size() && text.size() - at < character_bytes(text[at]);
    require(at == text.size() || may_go_on, "text is not UTF-8 at byte ", before_ + at);
    return at;
}

void Encoder::take(bool more, Tokens& tokens) {
    const std::string_view text = std::string_view(pending_).substr(0, whole_characters(more));
    std::size_t at = 0;
    for (;;) {
        const auto [end, added] = finder_.find(text, at, more);
        if (end > at) encoder_->feed(text.substr(at, end - at), tokens);
        at = end;
        if (!added) break;
        encoder_->finish(tokens);
        tokens.push_back(added->token);
        at += added->text.size();
    }
    before_ += at;
    pending_.erase(0, at);
}

}  // namespace vkf
