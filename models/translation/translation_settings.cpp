#include "models/translation/translation_settings.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "models/files/config_keys.h"
#include "models/files/generation_config.h"
#include "models/files/other_keys.h"

namespace vkf {
namespace {

using nlohmann::json;

constexpr std::string_view READ[] = {"num_beams",      "max_length",         "max_new_tokens", "length_penalty",
                                     "early_stopping", "renormalize_logits", "bad_words_ids",  "forced_eos_token_id"};

// Keys by which a language model's text changes, at the values for the likeliest translation.
constexpr OtherKey UNSUPPORTED[] = {
    {"do_sample", "[false]"},
    {"repetition_penalty", "[1]"},
    {"stop_strings", "[]"},
    {"temperature"},
    {"top_k"},
    {"top_p"},
    {"min_p"},
};

std::int64_t read_within(const ConfigKeys& keys, const char* key, std::int64_t least, std::int64_t most) {
    const std::int64_t value = keys.integer(key);
    require(value >= least && value <= most, keys.where(), ": '", key, "' is ", value, ", wanted ", least, " to ",
            most);
    return value;
}

/// Throws unless a key that names one token, or a list of one, is absent or names the model's.
void require_token(const ConfigKeys& keys, const char* key, std::int32_t wanted) {
    if (!keys.has(key)) return;
    const json& value = keys.value(key);
    require(value == wanted || value == json::array({wanted}), keys.where(), ": '", key, "' is ", one_line(value),
            ", wanted ", wanted, " as in config.json");
}

/// Tokens that are never written. The library leaves out the end among them.
std::vector<std::int32_t> read_banned(const ConfigKeys& keys, const TranslationTokens& tokens) {
    std::vector<std::int32_t> banned;
    if (!keys.has("bad_words_ids")) return banned;
    const json& lists = keys.value("bad_words_ids");
    for (const json& list : lists.is_array() ? lists : json::array({lists})) {
        const bool one = list.is_array() && list.size() == 1 && list[0].is_number_integer() && list[0] >= 0 &&
                         list[0] < tokens.target_vocabulary;
        require(one, keys.where(), ": 'bad_words_ids' has ", one_line(list), ", wanted lists of one token below ",
                tokens.target_vocabulary);
        if (list[0] != tokens.end) banned.push_back(list[0].get<std::int32_t>());
    }
    return banned;
}

}  // namespace

TranslationSettings read_translation_settings(const std::filesystem::path& model, const TranslationTokens& tokens) {
    constexpr std::int64_t most = 1'000'000;
    const ConfigKeys keys = generation_keys(model);
    std::vector<OtherKey> others(std::begin(UNSUPPORTED), std::end(UNSUPPORTED));
    others.insert(others.end(), other_generation_keys().begin(), other_generation_keys().end());
    require_understood(keys, READ, others);
    require_token(keys, "eos_token_id", tokens.end);
    require_token(keys, "decoder_start_token_id", tokens.begin);
    require_token(keys, "forced_eos_token_id", tokens.end);
    TranslationSettings said{.file = keys.where()};
    if (keys.has("num_beams")) said.beams = read_within(keys, "num_beams", 1, 16);
    if (keys.has("max_length")) said.longest = read_within(keys, "max_length", 2, most) - 1;
    if (keys.has("max_new_tokens")) said.longest = read_within(keys, "max_new_tokens", 1, most);
    if (keys.has("length_penalty")) said.length_penalty = keys.real("length_penalty", 1);
    require(!said.length_penalty || (*said.length_penalty >= 0 && *said.length_penalty <= 10), keys.where(),
            ": 'length_penalty' is ", said.length_penalty.value_or(0), ", wanted 0 to 10");
    said.rules.early_stopping = keys.flag("early_stopping", !said.beams);
    said.rules.renormalized = keys.flag("renormalize_logits", false);
    said.rules.forced_end = keys.has("forced_eos_token_id");
    said.rules.banned = read_banned(keys, tokens);
    return said;
}

bool has_translation_settings(const std::filesystem::path& model) {
    const ConfigKeys keys = generation_keys(model);
    return std::ranges::any_of(READ, [&](std::string_view key) { return keys.has(std::string(key)); });
}

}  // namespace vkf
