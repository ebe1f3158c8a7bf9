// A JSON file's keys, read with their types checked.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// A JSON object whose members are read with their types checked. Throws InputError naming file, key and value.
class ConfigKeys {
public:
    ConfigKeys(std::string where, nlohmann::json object);
    /// Reads a whole file. Throws InputError if it is no JSON object.
    static ConfigKeys open(const std::filesystem::path& path);

    const std::string& where() const { return where_; }
    bool has(const std::string& key) const;
    bool is_word(const std::string& key) const;  // true for a member that is a string
    std::vector<std::string> names() const;
    /// Unchecked value of a member that must be there.
    const nlohmann::json& value(const std::string& key) const { return object_.at(key); }
    std::int64_t size() const { return static_cast<std::int64_t>(object_.size()); }
    /// A member that is an object.
    ConfigKeys inner(const std::string& key) const;

    std::int64_t integer(const std::string& key) const;  // must be there
    std::int64_t integer(const std::string& key, std::int64_t otherwise) const;
    float number(const std::string& key) const;  // must be there
    float number(const std::string& key, float otherwise) const;
    double real(const std::string& key, double otherwise) const;  // a number with all its digits
    bool flag(const std::string& key, bool otherwise) const;
    std::string word(const std::string& key, const std::string& otherwise) const;
    std::vector<double> numbers(const std::string& key) const;     // an array that must be there
    std::vector<std::string> words(const std::string& key) const;  // an array that must be there

    /// Throws InputError unless every key is one of `known`.
    void allow(std::span<const std::string_view> known) const;
    /// As allow(), but other keys may be there if they ask for nothing: null, false, or an empty value.
    void allow_in_use(std::span<const std::string_view> known) const;

private:
    const nlohmann::json& typed(const std::string& key, bool (nlohmann::json::*is)() const noexcept,
                                const char* wanted) const;

    std::string where_;
    nlohmann::json object_;
};

}  // namespace vkf
