#include "models/files/adapter_files.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/adapters/adapters.h"
#include "models/files/config_keys.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

constexpr std::array known_keys = std::to_array<std::string_view>({
    "peft_type", "task_type", "base_model_name_or_path", "r", "lora_alpha", "use_rslora", "target_modules", "bias",
    "lora_dropout",
    "fan_in_fan_out",     // layout of the adapted weight, which the model defines itself
    "init_lora_weights",  // initial values, as eva_config
    "eva_config", "inference_mode", "auto_mapping", "revision", "peft_version", "megatron_core",
    "qalora_group_size",  // option of use_qalora
});

void require_word(const ConfigKeys& keys, const std::string& key, const std::string& wanted) {
    const std::string word = keys.word(key, wanted);
    require(word == wanted, keys.where(), ": '", key, "' is '", word, "', wanted '", wanted, "'");
}

/// Throws for initial values that change the weights next to the adapters.
void require_weights_as_they_were(const ConfigKeys& keys) {
    const std::string key = "init_lora_weights";
    if (!keys.is_word(key)) return;
    const std::string way = keys.word(key, "");
    require(way == "gaussian" || way == "orthogonal" || way == "eva", keys.where(), ": '", key, "' is '", way,
            "', wanted one that leaves the model's own weights alone: true, false, 'gaussian', 'orthogonal' or 'eva'");
}

std::vector<std::string> read_targets(const ConfigKeys& keys) {
    const std::string key = "target_modules";
    if (keys.is_word(key)) {
        const std::string word = keys.word(key, "");
        require(word == all_linear, keys.where(), ": '", key, "' is '", word, "', wanted a list of names, or '",
                all_linear, "'");
        return {word};
    }
    std::vector<std::string> targets = keys.words(key);
    require(!targets.empty(), keys.where(), ": '", key, "' is empty, wanted names of linear maps");
    return targets;
}

}  // namespace

AdapterConfig read_adapter_config(const std::filesystem::path& file) {
    const ConfigKeys keys = ConfigKeys::open(file);
    require(keys.has("peft_type"), file.string(), ": key 'peft_type' is missing");
    require_word(keys, "peft_type", "LORA");
    require_word(keys, "task_type", "CAUSAL_LM");
    require_word(keys, "bias", "none");
    keys.allow_in_use(known_keys);
    require_weights_as_they_were(keys);
    AdapterConfig made{.base = keys.word("base_model_name_or_path", ""), .dropout = keys.number("lora_dropout", 0)};
    made.lora.rank = keys.integer("r");
    require(made.lora.rank >= 1, file.string(), ": 'r' is ", made.lora.rank, ", wanted at least 1");
    made.lora.alpha = keys.number("lora_alpha");
    made.lora.rank_stabilized = keys.flag("use_rslora", false);
    made.lora.targets = read_targets(keys);
    return made;
}

std::string adapter_config_text(const ModelConfig& model, const std::string& base) {
    const LoraConfig& lora = *model.adapters();
    ordered_json alpha = std::stod(shortest(lora.alpha));
    if (lora.alpha == std::floor(lora.alpha)) alpha = static_cast<std::int64_t>(lora.alpha);  // as PEFT writes it
    const ordered_json object{
        {"peft_type", "LORA"},
        {"task_type", "CAUSAL_LM"},
        {"base_model_name_or_path", base},
        {"inference_mode", true},
        {"r", lora.rank},
        {"lora_alpha", alpha},
        {"use_rslora", lora.rank_stabilized},
        {"target_modules", lora.targets},
        {"lora_dropout", 0.0},
        {"bias", "none"},
        {"fan_in_fan_out", !parameters_of(model).linear_maps().front().out_in},
        {"init_lora_weights", true},
        {"modules_to_save", nullptr},
    };
    // Folder names need not be UTF-8; JSON must be.
    return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string adapter_prefix(const Family& family) {
    return text("base_model.model.", family.tensors.prefix);
}

}  // namespace vkf
