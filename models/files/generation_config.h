// Settings of text generation in a model's files: generation_config.json, or config.json if there is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/files/config_keys.h"

namespace vkf {

/// Settings that the files do not have are empty.
struct GenerationConfig {
    std::filesystem::path file;     // the file that was read
    std::optional<bool> do_sample;  // false: always the most likely token
    std::optional<double> temperature, top_p, min_p, repetition_penalty;
    std::optional<std::int64_t> top_k, max_new_tokens;
    std::vector<std::string> stop_strings;
    std::vector<std::int32_t> end_tokens;  // "eos_token_id", from config.json if the other file has none
};

inline constexpr const char* generation_config_file = "generation_config.json";

/// Reads the settings of a model's directory. Throws InputError naming file and key that is broken or asks for an
/// unsupported feature, such as beams.
GenerationConfig read_generation_config(const std::filesystem::path& model);

/// The keys of generation_config.json or, if there is none, those of them that config.json has. Throws InputError if
/// the file is no JSON object.
ConfigKeys generation_keys(const std::filesystem::path& model);

/// Text of generation_config.json for what is made from the model: the file as it is or, if there is none, the settings
/// of config.json; nothing if these are missing, too.
std::optional<std::string> generation_config_text(const std::filesystem::path& model);

}  // namespace vkf
