#include "models/files/gpt2_config.h"

#include "base/error.h"
#include "models/files/config_keys.h"

namespace vkf {

Gpt2Config read_gpt2_config(const std::filesystem::path& path) {
    const ConfigKeys keys = ConfigKeys::open(path);
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
    c.attention = read_attention(keys);
    try {
        c.activation = activation_named(keys.word("activation_function", "gelu_new"));
        validate(c);
    } catch (const InputError& error) {
        throw InputError(path.string(), ": ", error.what());
    }
    return c;
}

std::string gpt2_config_text(const Gpt2Config& c) {
    nlohmann::ordered_json object{{"architectures", {"GPT2LMHeadModel"}},
                                  {"model_type", "gpt2"},
                                  {"vocab_size", c.vocab_size},
                                  {"n_positions", c.n_positions},
                                  {"n_embd", c.n_embd},
                                  {"n_layer", c.n_layer},
                                  {"n_head", c.n_head},
                                  {"n_inner", c.n_inner ? nlohmann::json(c.n_inner) : nlohmann::json()},
                                  {"activation_function", name_of(c.activation)},
                                  {"layer_norm_epsilon", static_cast<double>(c.layer_norm_epsilon)},
                                  {"tie_word_embeddings", c.tie_word_embeddings},
                                  {"bias", c.bias}};
    if (auto attention = attention_object(c.attention); !attention.is_null()) object["attention"] = attention;
    return object.dump(2) + "\n";
}

}  // namespace vkf
