#include "models/files/marian_config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/files/config_keys.h"

namespace vkf {

bool is_marian_config(const ConfigKeys& keys) {
    return keys.is_word("model_type") && (keys.value("model_type") == "marian" || keys.value("model_type") == "bart");
}

nlohmann::json marian_model(const ConfigKeys& keys) {
    const bool bart = keys.value("model_type") == "bart";
    const bool computed = keys.flag("static_position_embeddings", !bart);
    require(computed, keys.where(), ": 'model_type' is '", keys.word("model_type", ""),
            "' and 'static_position_embeddings' is not true: learned positions, as in models of BART, are not "
            "supported, wanted a Marian model");
    nlohmann::json object = nlohmann::json::object();
    for (const std::string& name : keys.names()) object[name] = keys.value(name);
    object["model_type"] = "marian";
    object.erase("static_position_embeddings");
    object.erase("num_hidden_layers");  // encoder_layers again
    if (keys.flag("is_encoder_decoder", true)) object.erase("is_encoder_decoder");
    return object;
}

}  // namespace vkf
