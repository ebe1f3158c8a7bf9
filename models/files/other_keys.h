// Keys of Hugging Face's files that nothing here reads: at which values they ask for nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace vkf {

class ConfigKeys;

struct OtherKey {
    std::string_view name;
    std::string_view neutral = {};  // a JSON array of the values that ask for nothing, beside null; any value if empty
};

/// What no family's fields are in config.json, what vkformer generate does not take from generation_config.json, and
/// what tokenizers do not take from tokenizer_config.json.
std::span<const OtherKey> other_config_keys();
std::span<const OtherKey> other_generation_keys();
std::span<const OtherKey> other_tokenizer_keys();

/// Whether a value of the key is neutral.
bool asks_for_nothing(const OtherKey& key, const nlohmann::json& value);

/// Throws InputError naming file, key and value unless every key is one of `read`, or one of `others` with a neutral
/// value, or asks for nothing whatever it means: null, false or what is empty; or its name begins with "_", as notes
/// do.
void require_understood(const ConfigKeys& keys, std::span<const std::string_view> read,
                        std::span<const OtherKey> others);

}  // namespace vkf
