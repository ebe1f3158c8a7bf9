// A part of a JSON document with its position, for messages.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// A value of a JSON document. All functions throw InputError naming file and key, what was found and what was wanted.
class JsonPart {
public:
    /// `file` begins messages; it and `value` must outlive the part and its parts.
    JsonPart(const nlohmann::json& value, const std::string& file, std::string key = {});

    const nlohmann::json& value() const { return value_; }
    const std::string& file() const { return file_; }
    /// "tokenizer.json: model.merges[3]"
    std::string where() const;
    bool is_null() const { return value_.is_null(); }

    /// Refuses a value that is no object, or has a key that is not among `keys`.
    void only(std::initializer_list<std::string_view> keys) const;
    /// A member; null if there is none.
    JsonPart operator[](const char* key) const;
    /// The elements of a list.
    std::vector<JsonPart> elements() const;

    std::string string() const;
    std::int64_t integer() const;
    /// A member; `otherwise` if it is missing.
    bool flag(const char* key, bool otherwise) const;
    /// Refuses any value but `wanted`: a feature that is not supported.
    void must_be(const nlohmann::json& wanted) const;
    /// Refuses the value, with what is supported.
    [[noreturn]] void refuse(std::string_view wanted) const;

private:
    const nlohmann::json& value_;
    const std::string& file_;
    std::string key_;
};

}  // namespace vkf
