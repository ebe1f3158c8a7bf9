#include "models/files/vit_config.h"

#include <array>

#include "base/error.h"
#include "models/files/config_keys.h"

namespace vkf {

namespace {

constexpr std::array<std::string_view, 3> shifts{"none", "cardinal", "diagonal"};
constexpr std::array<std::string_view, 3> localities{"none", "per_layer", "per_head"};

template <class Kind>
Kind named(const std::string& wanted, std::span<const std::string_view> names, const char* key) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == wanted) return static_cast<Kind>(i);
    throw InputError(key, " is '", wanted, "', wanted ", names[0], ", ", names[1], " or ", names[2]);
}

}  // namespace

PatchShift patch_shift_named(const std::string& name) {
    return named<PatchShift>(name, shifts, "shifted_patch_tokenization");
}

Locality locality_named(const std::string& name) {
    return named<Locality>(name, localities, "locality_self_attention");
}

std::string_view name_of(PatchShift shift) {
    return shifts[static_cast<std::size_t>(shift)];
}

std::string_view name_of(Locality locality) {
    return localities[static_cast<std::size_t>(locality)];
}

namespace {

/// The classes' names: id2label's "0", "1", …; none if one is missing, or where Hugging Face wrote LABEL_0, LABEL_1, …
/// for want of names.
std::vector<std::string> read_labels(const ConfigKeys& keys, std::int64_t count) {
    std::vector<std::string> labels;
    if (!keys.has("id2label")) return labels;
    const ConfigKeys names = keys.inner("id2label");
    for (std::int64_t i = 0; i < count && names.has(std::to_string(i).c_str()); ++i)
        labels.push_back(names.word(std::to_string(i).c_str(), ""));
    const bool named = std::ssize(labels) == count && labels[0] != "LABEL_0";
    return named ? labels : std::vector<std::string>();
}

/// The number of classes, which Hugging Face's files often give by their names alone.
std::int64_t read_num_labels(const ConfigKeys& keys) {
    const bool counted = !keys.has("num_labels") && keys.has("id2label");
    return counted ? keys.inner("id2label").size() : keys.integer("num_labels");
}

}  // namespace

VitConfig read_vit_config(const std::filesystem::path& path) {
    const ConfigKeys keys = ConfigKeys::open(path);
    const std::string type = keys.word("model_type", "");
    require(type == "vit", path.string(), ": 'model_type' is '", type, "', wanted 'vit'");
    VitConfig c;
    c.image_size = keys.integer("image_size");
    c.patch_size = keys.integer("patch_size");
    c.num_channels = keys.integer("num_channels", 3);
    c.hidden_size = keys.integer("hidden_size");
    c.num_hidden_layers = keys.integer("num_hidden_layers");
    c.num_attention_heads = keys.integer("num_attention_heads");
    c.intermediate_size = keys.integer("intermediate_size");
    c.layer_norm_eps = keys.number("layer_norm_eps", 1e-6f);
    c.qkv_bias = keys.flag("qkv_bias", true);
    c.num_labels = read_num_labels(keys);
    c.labels = read_labels(keys, c.num_labels);
    c.head_dim = keys.integer("head_dim", 0);
    c.attention = read_attention(keys);
    try {
        c.hidden_act = activation_named(keys.word("hidden_act", "gelu"));
        c.patch_shift = patch_shift_named(keys.word("shifted_patch_tokenization", "none"));
        c.locality = locality_named(keys.word("locality_self_attention", "none"));
        validate(c);
    } catch (const InputError& error) {
        throw InputError(path.string(), ": ", error.what());
    }
    return c;
}

std::string vit_config_text(const VitConfig& c) {
    nlohmann::ordered_json object{{"architectures", {"ViTForImageClassification"}},
                                  {"model_type", "vit"},
                                  {"image_size", c.image_size},
                                  {"patch_size", c.patch_size},
                                  {"num_channels", c.num_channels},
                                  {"hidden_size", c.hidden_size},
                                  {"num_hidden_layers", c.num_hidden_layers},
                                  {"num_attention_heads", c.num_attention_heads},
                                  {"head_dim", c.head_width()},
                                  {"intermediate_size", c.intermediate_size},
                                  {"hidden_act", name_of(c.hidden_act)},
                                  {"layer_norm_eps", static_cast<double>(c.layer_norm_eps)},
                                  {"qkv_bias", c.qkv_bias},
                                  {"num_labels", c.num_labels}};
    const auto word = [&](const char* key, auto kind, std::span<const std::string_view> names) {
        if (const auto i = static_cast<std::size_t>(kind); i > 0) object[key] = names[i];
    };
    word("shifted_patch_tokenization", c.patch_shift, shifts);
    word("locality_self_attention", c.locality, localities);
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
        object["id2label"][std::to_string(i)] = c.labels[i];
        object["label2id"][c.labels[i]] = i;
    }
    if (auto attention = attention_object(c.attention); !attention.is_null()) object["attention"] = attention;
    // Names of folders need not be UTF-8; JSON does.
    return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace vkf
