#include "models/files/generation_config.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/files/other_keys.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::int32_t> read_end_tokens(const ConfigKeys& keys) {
    std::vector<std::int32_t> tokens;
    if (!keys.has("eos_token_id")) return tokens;
    const json& value = keys.value("eos_token_id");
    const json list = value.is_array() ? value : json::array({value});
    for (const json& token : list) {
        const bool whole =
            token.is_number_integer() && token >= -1 && token <= std::numeric_limits<std::int32_t>::max();
        require(whole, keys.where(), ": 'eos_token_id' is ", one_line(value), ", wanted a token or a list of tokens");
        tokens.push_back(token.get<std::int32_t>());
    }
    return tokens;
}

std::optional<double> read_number(const ConfigKeys& keys, const char* key) {
    if (!keys.has(key)) return {};
    keys.number(key);  // throws if it is none
    return keys.value(key).get<double>();
}

std::optional<std::int64_t> read_integer(const ConfigKeys& keys, const char* key) {
    return keys.has(key) ? std::optional(keys.integer(key)) : std::nullopt;
}

/// The keys of generation_config.json that config.json has.
ConfigKeys generation_keys_of(const ConfigKeys& config) {
    json object = json::object();
    for (const OtherKey& key : other_generation_keys()) {
        const std::string name(key.name);
        if (config.has(name)) object[name] = config.value(name);
    }
    object.erase("transformers_version");
    return {config.where(), object};
}

}  // namespace

ConfigKeys generation_keys(const fs::path& model) {
    const fs::path file = model / generation_config_file;
    return file_exists(file) ? ConfigKeys::open(file) : generation_keys_of(ConfigKeys::open(model / "config.json"));
}

GenerationConfig read_generation_config(const fs::path& model) {
    const ConfigKeys of_model = generation_keys_of(ConfigKeys::open(model / "config.json"));
    const ConfigKeys keys = generation_keys(model);
    require_understood(keys, {}, other_generation_keys());
    GenerationConfig said{.file = keys.where()};
    if (keys.has("do_sample")) said.do_sample = keys.flag("do_sample", false);
    said.temperature = read_number(keys, "temperature");
    said.top_p = read_number(keys, "top_p");
    said.min_p = read_number(keys, "min_p");
    said.repetition_penalty = read_number(keys, "repetition_penalty");
    said.top_k = read_integer(keys, "top_k");
    said.max_new_tokens = read_integer(keys, "max_new_tokens");
    if (keys.is_word("stop_strings"))
        said.stop_strings = {keys.word("stop_strings", "")};
    else if (keys.has("stop_strings"))
        said.stop_strings = keys.words("stop_strings");
    said.end_tokens = read_end_tokens(keys.has("eos_token_id") ? keys : of_model);
    return said;
}

std::optional<std::string> generation_config_text(const fs::path& model) {
    const fs::path file = model / generation_config_file;
    if (file_exists(file)) return read_small_text(file);
    const ConfigKeys said = generation_keys_of(ConfigKeys::open(model / "config.json"));
    if (said.size() == 0) return {};
    nlohmann::ordered_json object{{"_from_model_config", true}};
    for (const std::string& name : said.names()) object[name] = said.value(name);
    return object.dump(2) + "\n";
}

}  // namespace vkf
