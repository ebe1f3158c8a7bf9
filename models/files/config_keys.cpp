#include "models/files/config_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "ops/activation.h"
#include "ops/discrepancy.h"

namespace vkf {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, Activation>, 4> activations{{
    {"gelu_new", Activation::gelu_tanh},
    {"gelu", Activation::gelu},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
}};

}  // namespace

ConfigKeys::ConfigKeys(std::string where, json object) : where_(std::move(where)), object_(std::move(object)) {
    require(object_.is_object(), where_, ": wanted a JSON object");
}

ConfigKeys ConfigKeys::open(const std::filesystem::path& path) {
    return ConfigKeys(path.string(), parse_json(read_text(path), path.string()));
}

bool ConfigKeys::has(const char* key) const {
    return object_.contains(key) && !object_[key].is_null();
}

ConfigKeys ConfigKeys::inner(const char* key) const {
    return ConfigKeys(where_ + ": " + key, object_.at(key));
}

const json& ConfigKeys::typed(const char* key, bool (json::*is)() const noexcept, const char* wanted) const {
    const json& value = object_.at(key);
    require((value.*is)(), where_, ": '", key, "' is ", one_line(value), ", wanted ", wanted);
    return value;
}

std::int64_t ConfigKeys::integer(const char* key) const {
    require(has(key), where_, ": key '", key, "' is missing");
    const json& value = typed(key, &json::is_number_integer, "an integer");
    const auto whole = value.get<std::int64_t>();
    require(!value.is_number_unsigned() || whole >= 0, where_, ": '", key, "' is ", value, ", wanted one below 2^63");
    return whole;
}

std::int64_t ConfigKeys::integer(const char* key, std::int64_t otherwise) const {
    return has(key) ? integer(key) : otherwise;
}

float ConfigKeys::number(const char* key, float otherwise) const {
    return has(key) ? typed(key, &json::is_number, "a number").get<float>() : otherwise;
}

bool ConfigKeys::flag(const char* key, bool otherwise) const {
    return has(key) ? typed(key, &json::is_boolean, "true or false").get<bool>() : otherwise;
}

std::string ConfigKeys::word(const char* key, const std::string& otherwise) const {
    return has(key) ? typed(key, &json::is_string, "a string").get<std::string>() : otherwise;
}

std::vector<double> ConfigKeys::numbers(const char* key) const {
    require(has(key), where_, ": key '", key, "' is missing");
    const json& list = typed(key, &json::is_array, "an array of numbers");
    require(std::ranges::all_of(list, [](const json& x) { return x.is_number(); }), where_, ": '", key, "' is ",
            one_line(list), ", wanted an array of numbers");
    return list.get<std::vector<double>>();
}

void ConfigKeys::allow(std::initializer_list<std::string_view> known) const {
    std::string list;
    for (const std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
    for (const auto& [key, value] : object_.items())
        require(std::ranges::find(known, key) != known.end(), where_, ": unknown key '", key, "'; there are: ", list);
}

AttentionConfig read_attention(const ConfigKeys& keys) {
    if (!keys.has("attention")) return {};
    const ConfigKeys attention = keys.inner("attention");
    attention.allow({"variant", "gamma", "gamma_on", "mask_diagonal"});
    AttentionConfig made;
    made.variant = attention.word("variant", "standard");
    made.gamma = attention.number("gamma", 1.0f);
    const std::string on = attention.word("gamma_on", "sum");
    require(on == "sum" || on == "value", attention.where(), ": 'gamma_on' is '", on, "', wanted 'sum' or 'value'");
    made.gamma_on = on == "sum" ? GammaOn::sum : GammaOn::value;
    made.mask_diagonal = attention.flag("mask_diagonal", false);
    return made;
}

nlohmann::ordered_json attention_object(const AttentionConfig& config) {
    if (config == AttentionConfig{}) return {};
    return {{"variant", config.variant},
            {"gamma", static_cast<double>(config.gamma)},
            {"gamma_on", config.gamma_on == GammaOn::sum ? "sum" : "value"},
            {"mask_diagonal", config.mask_diagonal}};
}

Activation activation_named(const std::string& wanted) {
    for (const auto& [name, kind] : activations)
        if (name == wanted) return kind;
    throw InputError("activation is '", wanted, "', wanted gelu_new, gelu, relu or silu");
}

std::string_view name_of(Activation wanted) {
    for (const auto& [name, kind] : activations)
        if (kind == wanted) return name;
    return "none";
}

std::string read_model_type(const std::filesystem::path& path) {
    return ConfigKeys::open(path).word("model_type", "gpt2");
}

}  // namespace vkf
