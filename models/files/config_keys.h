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
    /// The whole of a file. Throws InputError if it is no JSON object.
    static ConfigKeys open(const std::filesystem::path& path);

    const std::string& where() const { return where_; }
    bool has(const std::string& key) const;
    bool is_word(const std::string& key) const;  // has, and it is a string
    std::vector<std::string> names() const;
    /// A member, which must be there, as it is.
    const nlohmann::json& value(const std::string& key) const { return object_.at(key); }
    std::int64_t size() const { return static_cast<std::int64_t>(object_.size()); }
    /// A member that is an object of its own.
    ConfigKeys inner(const std::string& key) const;

    std::int64_t integer(const std::string& key) const;  // which must be there
    std::int64_t integer(const std::string& key, std::int64_t otherwise) const;
    float number(const std::string& key) const;  // which must be there
    float number(const std::string& key, float otherwise) const;
    double real(const std::string& key, double otherwise) const;  // a number with all its digits
    bool flag(const std::string& key, bool otherwise) const;
    std::string word(const std::string& key, const std::string& otherwise) const;
    std::vector<double> numbers(const std::string& key) const;     // an array, which must be there
    std::vector<std::string> words(const std::string& key) const;  // likewise

    /// Throws InputError unless every key is one of these.
    void allow(std::span<const std::string_view> known) const;
    /// The same, but for keys that ask for nothing: null, false, and what is empty.
    void allow_in_use(std::span<const std::string_view> known) const;

private:
    const nlohmann::json& typed(const std::string& key, bool (nlohmann::json::*is)() const noexcept,
                                const char* wanted) const;

    std::string where_;
    nlohmann::json object_;
};

}  // namespace vkf
