#include "models/files/config_keys.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/json.h"

namespace vkf {

using nlohmann::json;

namespace {

bool has_zero(const std::string& words) {
    return words.find('\0') != std::string::npos;
}

/// True if any key or text in the value has a zero byte, at which names quoted by a message or a system would end.
bool has_zero(const json& value) {
    if (value.is_string()) return has_zero(value.get_ref<const std::string&>());
    if (value.is_array()) return std::ranges::any_of(value, [](const json& part) { return has_zero(part); });
    if (!value.is_object()) return false;
    return std::ranges::any_of(value.get_ref<const json::object_t&>(),
                               [](const auto& member) { return has_zero(member.first) || has_zero(member.second); });
}

}  // namespace

ConfigKeys::ConfigKeys(std::string where, json object) : where_(std::move(where)), object_(std::move(object)) {
    require(object_.is_object(), where_, ": wanted a JSON object");
    require(!has_zero(object_), where_, ": a key or a text in it has a zero byte");
}

ConfigKeys ConfigKeys::open(const std::filesystem::path& path) {
    return ConfigKeys(path.string(), parse_json(read_small_text(path), path.string()));
}

bool ConfigKeys::has(const std::string& key) const {
    return object_.contains(key) && !object_[key].is_null();
}

bool ConfigKeys::is_word(const std::string& key) const {
    return object_.contains(key) && object_[key].is_string();
}

std::vector<std::string> ConfigKeys::names() const {
    std::vector<std::string> all;
    for (const auto& [key, value] : object_.items()) all.push_back(key);
    return all;
}

ConfigKeys ConfigKeys::inner(const std::string& key) const {
    return ConfigKeys(where_ + ": " + key, object_.at(key));
}

const json& ConfigKeys::typed(const std::string& key, bool (json::*is)() const noexcept, const char* wanted) const {
    const json& value = object_.at(key);
    require((value.*is)(), where_, ": '", key, "' is ", one_line(value), ", wanted ", wanted);
    return value;
}

std::int64_t ConfigKeys::integer(const std::string& key) const {
    require(has(key), where_, ": key '", key, "' is missing");
    const json& value = typed(key, &json::is_number_integer, "an integer");
    const auto whole = value.get<std::int64_t>();
    require(!value.is_number_unsigned() || whole >= 0, where_, ": '", key, "' is ", value, ", wanted one below 2^63");
    return whole;
}

std::int64_t ConfigKeys::integer(const std::string& key, std::int64_t otherwise) const {
    return has(key) ? integer(key) : otherwise;
}

float ConfigKeys::number(const std::string& key) const {
    require(has(key), where_, ": key '", key, "' is missing");
    return number(key, 0);
}

float ConfigKeys::number(const std::string& key, float otherwise) const {
    return static_cast<float>(real(key, static_cast<double>(otherwise)));
}

double ConfigKeys::real(const std::string& key, double otherwise) const {
    return has(key) ? typed(key, &json::is_number, "a number").get<double>() : otherwise;
}

bool ConfigKeys::flag(const std::string& key, bool otherwise) const {
    return has(key) ? typed(key, &json::is_boolean, "true or false").get<bool>() : otherwise;
}

std::string ConfigKeys::word(const std::string& key, const std::string& otherwise) const {
    return has(key) ? typed(key, &json::is_string, "a string").get<std::string>() : otherwise;
}

std::vector<double> ConfigKeys::numbers(const std::string& key) const {
    require(has(key), where_, ": key '", key, "' is missing");
    const json& list = typed(key, &json::is_array, "an array of numbers");
    require(std::ranges::all_of(list, [](const json& x) { return x.is_number(); }), where_, ": '", key, "' is ",
            one_line(list), ", wanted an array of numbers");
    return list.get<std::vector<double>>();
}

std::vector<std::string> ConfigKeys::words(const std::string& key) const {
    require(has(key), where_, ": key '", key, "' is missing");
    const json& list = typed(key, &json::is_array, "an array of strings");
    require(std::ranges::all_of(list, [](const json& x) { return x.is_string(); }), where_, ": '", key, "' is ",
            one_line(list), ", wanted an array of strings");
    return list.get<std::vector<std::string>>();
}

void ConfigKeys::allow_in_use(std::span<const std::string_view> known) const {
    for (const auto& [key, value] : object_.items()) {
        const bool empty = value == "" || (value.is_structured() && value.empty());
        const bool unused = value.is_null() || value == false || empty;
        require(unused || std::ranges::find(known, key) != known.end(), where_, ": '", key, "' is ", one_line(value),
                ", which is not supported, wanted null or nothing");
    }
}

void ConfigKeys::allow(std::span<const std::string_view> known) const {
    std::string list;
    for (const std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
    for (const auto& [key, value] : object_.items())
        require(std::ranges::find(known, key) != known.end(), where_, ": unknown key '", key, "'; there are: ", list);
}

}  // namespace vkf
