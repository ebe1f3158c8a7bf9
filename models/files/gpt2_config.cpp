#include "models/files/gpt2_config.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace vkf {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, Activation>, 4> activations{{
    {"gelu_new", Activation::gelu_tanh},
    {"gelu", Activation::gelu},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
}};

/// A JSON object whose members are read with their types checked.
class Keys {
public:
    Keys(std::string where, const json& object) : where_(std::move(where)), object_(object) {
        require(object.is_object(), where_, ": wanted a JSON object");
    }

    bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
    const json& at(const char* key) const { return object_[key]; }
    const json& whole() const { return object_; }

    std::int64_t integer(const char* key) const {
        require(has(key), where_, ": key '", key, "' is missing");
        require(at(key).is_number_integer(), where_, ": '", key, "' is ", at(key).dump(), ", wanted an integer");
        return at(key).get<std::int64_t>();
    }
    std::int64_t integer(const char* key, std::int64_t otherwise) const { return has(key) ? integer(key) : otherwise; }

    float number(const char* key, float otherwise) const {
        if (!has(key)) return otherwise;
        require(at(key).is_number(), where_, ": '", key, "' is ", at(key).dump(), ", wanted a number");
        return at(key).get<float>();
    }

    bool flag(const char* key, bool otherwise) const {
        if (!has(key)) return otherwise;
        require(at(key).is_boolean(), where_, ": '", key, "' is ", at(key).dump(), ", wanted true or false");
        return at(key).get<bool>();
    }

    std::string word(const char* key, const std::string& otherwise) const {
        if (!has(key)) return otherwise;
        require(at(key).is_string(), where_, ": '", key, "' is ", at(key).dump(), ", wanted a string");
        return at(key).get<std::string>();
    }

private:
    std::string where_;
    const json& object_;
};

json parse(const std::filesystem::path& path) {
    try {
        return json::parse(read_text(path));
    } catch (const json::exception& error) {
        throw InputError(path.string(), ": not JSON: ", error.what());
    }
}

AttentionConfig read_attention(const std::string& where, const json& object) {
    const Keys keys(where, object);
    for (const auto& [key, value] : object.items())
        require(key == "variant" || key == "gamma" || key == "gamma_on" || key == "mask_diagonal", where,
                ": unknown key '", key, "'; there are: variant, gamma, gamma_on, mask_diagonal");
    AttentionConfig made;
    made.variant = keys.word("variant", "standard");
    made.gamma = keys.number("gamma", 1.0f);
    const std::string on = keys.word("gamma_on", "sum");
    require(on == "sum" || on == "value", where, ": 'gamma_on' is '", on, "', wanted 'sum' or 'value'");
    made.gamma_on = on == "sum" ? GammaOn::sum : GammaOn::value;
    made.mask_diagonal = keys.flag("mask_diagonal", false);
    return made;
}

}  // namespace

Activation activation_named(const std::string& wanted) {
    for (const auto& [name, kind] : activations)
        if (name == wanted) return kind;
    throw InputError("activation is '", wanted, "', wanted gelu_new, gelu, relu or silu");
}

std::string read_model_type(const std::filesystem::path& path) {
    const json object = parse(path);
    return Keys(path.string(), object).word("model_type", "gpt2");
}

Gpt2Config read_gpt2_config(const std::filesystem::path& path) {
    const json object = parse(path);
    const Keys keys(path.string(), object);
    const std::string type = keys.word("model_type", "gpt2");
    require(type == "gpt2", path.string(), ": 'model_type' is '", type, "', wanted 'gpt2'");
    Gpt2Config c;
    c.vocab_size = keys.integer("vocab_size");
    c.n_positions = keys.integer("n_positions");
    c.n_embd = keys.integer("n_embd");
    c.n_layer = keys.integer("n_layer");
    c.n_head = keys.integer("n_head");
    c.n_inner = keys.integer("n_inner", 0);
    c.layer_norm_epsilon = keys.number("layer_norm_epsilon", 1e-5f);
    c.tie_word_embeddings = keys.flag("tie_word_embeddings", true);
    c.bias = keys.flag("bias", true);
    if (keys.has("attention")) c.attention = read_attention(path.string() + ": attention", keys.at("attention"));
    try {
        c.activation = activation_named(keys.word("activation_function", "gelu_new"));
        validate(c);
    } catch (const InputError& error) {
        throw InputError(path.string(), ": ", error.what());
    }
    return c;
}

std::string gpt2_config_text(const Gpt2Config& c) {
    nlohmann::ordered_json object{
        {"architectures", {"GPT2LMHeadModel"}},
        {"model_type", "gpt2"},
        {"vocab_size", c.vocab_size},
        {"n_positions", c.n_positions},
        {"n_embd", c.n_embd},
        {"n_layer", c.n_layer},
        {"n_head", c.n_head},
        {"n_inner", c.n_inner ? json(c.n_inner) : json()},
    };
    for (const auto& [name, kind] : activations)
        if (kind == c.activation) object["activation_function"] = name;
    object["layer_norm_epsilon"] = static_cast<double>(c.layer_norm_epsilon);
    object["tie_word_embeddings"] = c.tie_word_embeddings;
    object["bias"] = c.bias;
    if (c.attention != AttentionConfig{})
        object["attention"] = {{"variant", c.attention.variant},
                               {"gamma", static_cast<double>(c.attention.gamma)},
                               {"gamma_on", c.attention.gamma_on == GammaOn::sum ? "sum" : "value"},
                               {"mask_diagonal", c.attention.mask_diagonal}};
    return object.dump(2) + "\n";
}

}  // namespace vkf
