#include "models/tokenizers/bpe/byte_level_model.h"

#include <algorithm>

#include "models/tokenizers/bpe/byte_level.h"

namespace vkf {

void read_byte_level_tokens(BpeModel& model, std::vector<std::string> names) {
    model.tokens = std::move(names);
    std::vector<bool> added(model.tokens.size());
    for (const AddedToken& token : model.added) added[static_cast<std::size_t>(token.token)] = true;
    for (std::size_t i = 0; i < model.tokens.size(); ++i) {
        const auto token = static_cast<std::int32_t>(i);
        std::string& name = model.tokens[i];
        auto bytes = added[i] ? std::nullopt : read_bytes(name);
        if (!bytes) {
            model.hidden.push_back(token);
            continue;
        }
        name = std::move(*bytes);
        if (name.size() == 1) model.byte_tokens[static_cast<unsigned char>(name[0])] = token;
    }
}

std::string token_name(const BpeModel& model, std::int32_t token) {
    const bool plain = std::ranges::find(model.hidden, token) != model.hidden.end();
    const std::string& bytes = model.tokens[static_cast<std::size_t>(token)];
    return plain ? bytes : spell_bytes(bytes);
}

}  // namespace vkf
