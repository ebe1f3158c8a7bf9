// Keys of Hugging Face's files that are not read here, and the values at which they ask for nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace vkf {

class ConfigKeys;

struct OtherKey {
    std::string_view name;
    std::string_view neutral = {};  // JSON array of the values that ask for nothing, besides null; empty: any value
};

/// Keys of config.json that no family's fields have, and all known keys of generation_config.json and
/// tokenizer_config.json.
std::span<const OtherKey> other_config_keys();
std::span<const OtherKey> other_generation_keys();
std::span<const OtherKey> other_tokenizer_keys();

/// True if a value of the key is neutral.
bool asks_for_nothing(const OtherKey& key, const nlohmann::json& value);

/// Throws InputError naming file, key and value unless every key is one of `read`, or is one of `others` with a neutral
/// value, or has a value that asks for nothing under any key (null, false or empty), or has a name that begins with
/// "_", as notes do.
void require_understood(const ConfigKeys& keys, std::span<const std::string_view> read,
                        std::span<const OtherKey> others);

}  // namespace vkf
