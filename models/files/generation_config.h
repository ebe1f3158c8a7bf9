// What a model's files say of how text is to be generated: generation_config.json, or config.json where there is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vkf {

/// What is not said is left open.
struct GenerationConfig {
    std::filesystem::path file;     // that says it
    std::optional<bool> do_sample;  // false: always the likeliest token
    std::optional<double> temperature, top_p, min_p, repetition_penalty;
    std::optional<std::int64_t> top_k, max_new_tokens;
    std::vector<std::string> stop_strings;
    std::vector<std::int32_t> end_tokens;  // "eos_token_id", which config.json may say beside the other file, too
};

inline constexpr const char* generation_config_file = "generation_config.json";

/// Of a model's directory. Throws InputError naming file and key that is broken or asks for what is not done here, such
/// as beams.
GenerationConfig read_generation_config(const std::filesystem::path& model);

/// The file's text for what is made of the model: as it is or, where there is none, of what config.json says; nothing
/// if that says nothing either.
std::optional<std::string> generation_config_text(const std::filesystem::path& model);

}  // namespace vkf
