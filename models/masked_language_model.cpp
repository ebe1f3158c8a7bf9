#include "models/masked_language_model.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace vkf {

void hide_words(const Masking& masking, std::span<const std::int32_t> special, Batch& batch, Random& random) {
    require(masking.mask_token >= 0,
            "'mask_token_id' is missing in config.json, and the tokenizer has neither [MASK] nor <mask>");
    const auto mask = static_cast<std::int32_t>(masking.mask_token);
    const auto another = [&] {  // a token other than the mask
        const auto drawn = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(masking.vocab_size - 1)));
        return drawn < mask ? drawn : drawn + 1;
    };
    auto &tokens = batch.at("tokens"), &targets = batch.at("targets");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool is_word = std::exchange(targets[i], -1) >= 0 && tokens[i] != mask &&
                             std::ranges::find(special, tokens[i]) == special.end();
        if (!is_word || random.uniform() >= masking.share) continue;
        targets[i] = tokens[i];
        const float kind = random.uniform();
        if (kind < 0.8f)
            tokens[i] = mask;
        else if (kind < 0.9f)
            tokens[i] = another();
    }
}

Tokens special_tokens(const Tokenizer* tokenizer) {
    Tokens special;
    if (!tokenizer) return special;
    for (const AddedToken& added : tokenizer->added_tokens())
        if (added.special) special.push_back(added.token);
    return special;
}

const AddedToken* mask_token(const Tokenizer& tokenizer) {
    for (const std::string_view name : {"[MASK]", "<mask>"}) {
        const auto& added = tokenizer.added_tokens();
        const auto found = std::ranges::find(added, name, &AddedToken::text);
        if (found != added.end()) return &*found;
    }
    return nullptr;
}

void adopt_mask_token(ModelConfig& config, const Tokenizer* tokenizer) {
    if (!tokenizer || !config.has(Dimension::mask_token) || config.size(Dimension::mask_token) >= 0) return;
    if (const AddedToken* mask = mask_token(*tokenizer)) config.set(Dimension::mask_token, mask->token);
}

void Predictions::add(std::span<const std::int32_t> likeliest, std::span<const std::int32_t> targets) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] < 0) continue;
        ++count;
        right += likeliest[i] == targets[i];
    }
}

}  // namespace vkf
