// What the config.json files of all models have in common: typed keys, the attention object, names of activations.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "models/attention/attention.h"
#include "ops/activation.h"

namespace vkf {

/// A JSON object whose members are read with their types checked. Throws InputError naming file, key and value.
class ConfigKeys {
public:
    ConfigKeys(std::string where, nlohmann::json object);
    /// The whole of a file. Throws InputError if it is no JSON object.
    static ConfigKeys open(const std::filesystem::path& path);

    const std::string& where() const { return where_; }
    bool has(const char* key) const;
    std::int64_t size() const { return static_cast<std::int64_t>(object_.size()); }
    /// A member that is an object of its own.
    ConfigKeys inner(const char* key) const;

    std::int64_t integer(const char* key) const;  // which must be there
    std::int64_t integer(const char* key, std::int64_t otherwise) const;
    float number(const char* key, float otherwise) const;
    bool flag(const char* key, bool otherwise) const;
    std::string word(const char* key, const std::string& otherwise) const;
    std::vector<double> numbers(const char* key) const;  // an array, which must be there

    /// Throws InputError unless every key is one of these.
    void allow(std::initializer_list<std::string_view> known) const;

private:
    const nlohmann::json& typed(const char* key, bool (nlohmann::json::*is)() const noexcept, const char* wanted) const;

    std::string where_;
    nlohmann::json object_;
};

/// The optional "attention" object; absent means standard.
AttentionConfig read_attention(const ConfigKeys& keys);
/// The object to write, null for standard attention.
nlohmann::ordered_json attention_object(const AttentionConfig& config);

/// gelu_new, gelu, relu or silu. Throws InputError naming the word and those there are.
Activation activation_named(const std::string& name);
std::string_view name_of(Activation kind);

/// "gpt2", "vit" or "llama", as config.json says; absent means gpt2. Throws InputError.
std::string read_model_type(const std::filesystem::path& path);

}  // namespace vkf
