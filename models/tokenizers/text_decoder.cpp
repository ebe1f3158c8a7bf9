#include "models/tokenizers/text_decoder.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace vkf {
namespace {

// Number of bytes from `at` on that begin a character; at least 1.
std::size_t beginning_of_character(std::string_view text, std::size_t at) {
    const auto begins = [&](std::size_t bytes) {
        const std::string some(text.substr(at, bytes));
        return decode_utf8(some + "\x80\x80\x80", 0).bytes > 0 || decode_utf8(some + "\xbf\xbf\xbf", 0).bytes > 0;
    };
    std::size_t bytes = 1;
    while (at + bytes < text.size() && begins(bytes + 1)) ++bytes;
    return bytes;
}

// True if more bytes could complete these to a character.
bool incomplete(std::string_view bytes) {
    const auto first = static_cast<unsigned char>(bytes[0]);
    const bool leads = first >= 0xc2 && first <= 0xf4;
    return leads && bytes.size() < (first < 0xe0 ? 2u : first < 0xf0 ? 3u : 4u);
}

}  // namespace

std::string TextDecoder::feed(std::int32_t token) {
    if (!begun_ && token == tokenizer_.begin_of_text()) return {};
    pending_ += tokenizer_.bytes(token);
    if (!begun_ && tokenizer_.prepends_space() && pending_.starts_with(' ')) pending_.erase(0, 1);
    begun_ = true;
    return take(true);
}

std::string TextDecoder::finish() {
    begun_ = false;
    return take(false);
}

std::string TextDecoder::take(bool more) {
    std::string text;
    std::size_t at = 0;
    while (at < pending_.size()) {
        if (tokenizer_.appends_space() && at + 1 == pending_.size() && pending_[at] == ' ') {
            if (!more) ++at;
            break;
        }
        if (const std::size_t bytes = decode_utf8(pending_, at).bytes; bytes > 0) {
            text += pending_.substr(at, bytes);
            at += bytes;
            continue;
        }
        const std::size_t bytes = beginning_of_character(pending_, at);
        const bool may_go_on = at + bytes == pending_.size() && incomplete(std::string_view(pending_).substr(at));
        if (more && may_go_on) break;
        append_utf8(text, U'\ufffd');
        at += bytes;
    }
    pending_.erase(0, at);
    return text;
}

}  // namespace vkf
