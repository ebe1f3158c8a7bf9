#include "models/tokenizers/tokenizer_json/json_part.h"

#include <algorithm>

#include "base/error.h"
#include "base/text/json.h"

namespace vkf {

using nlohmann::json;

JsonPart::JsonPart(const json& value, const std::string& file, std::string key)
    : value_(value), file_(file), key_(std::move(key)) {}

std::string JsonPart::where() const {
    return key_.empty() ? file_ : text(file_, ": ", key_);
}

void JsonPart::only(std::initializer_list<std::string_view> keys) const {
    if (!value_.is_object()) refuse("an object");
    for (const auto& [key, value] : value_.items()) {
        const bool known = std::ranges::find(keys, key) != keys.end();
        require(known, where(), ": ", one_line(json(key)), " (", one_line(value), ") is not supported");
    }
}

JsonPart JsonPart::operator[](const char* key) const {
    static const json none;
    if (!value_.is_object()) refuse("an object");
    const auto found = value_.find(key);
    return {found == value_.end() ? none : *found, file_, key_.empty() ? key : text(key_, ".", key)};
}

std::vector<JsonPart> JsonPart::elements() const {
    if (!value_.is_array()) refuse("a list");
    std::vector<JsonPart> parts;
    for (const json& element : value_) parts.emplace_back(element, file_, text(key_, "[", parts.size(), "]"));
    return parts;
}

std::string JsonPart::string() const {
    if (!value_.is_string()) refuse("a string");
    return value_.get<std::string>();
}

std::int64_t JsonPart::integer() const {
    if (!value_.is_number_integer()) refuse("an integer");
    return value_.get<std::int64_t>();
}

bool JsonPart::flag(const char* key, bool otherwise) const {
    const JsonPart member = (*this)[key];
    if (member.is_null()) return otherwise;
    if (!member.value_.is_boolean()) member.refuse("true or false");
    return member.value_.get<bool>();
}

void JsonPart::must_be(const json& wanted) const {
    if (value_ != wanted) refuse(one_line(wanted));
}

void JsonPart::refuse(std::string_view wanted) const {
    throw InputError(where(), " is ", one_line(value_), ", wanted ", wanted);
}

}  // namespace vkf
