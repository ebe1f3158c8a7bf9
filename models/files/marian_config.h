// config.json of Hugging Face's Marian models, of all versions of its library.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace vkf {

class ConfigKeys;

/// True for a translation model: of type "marian", or "bart", which earlier versions of the library wrote for Marian
/// models, too.
bool is_marian_config(const ConfigKeys& keys);

/// The object as type "marian", without keys that repeat others or ask for what every Marian model has. Throws
/// InputError if positions are learned, as in models of BART.
nlohmann::json marian_model(const ConfigKeys& keys);

}  // namespace vkf
