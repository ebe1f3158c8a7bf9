#include "models/tokenizers/shown_token.h"

#include "base/text/plain_text.h"

namespace vkf {

std::string shown_token(const Tokenizer* tokenizer, std::int32_t token) {
    if (!tokenizer || token < 0 || static_cast<std::size_t>(token) >= tokenizer->size()) return std::to_string(token);
    std::string shown;
    for (const char byte : tokenizer->bytes(token)) {
        if (byte == ' ')
            shown += "▁";
        else if (byte == '\n')
            shown += "↵";
        else
            shown += byte;
    }
    return plain_line(shown);
}

}  // namespace vkf
