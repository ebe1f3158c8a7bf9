#include "models/files/timm_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "models/files/config_keys.h"
#include "models/files/other_keys.h"

namespace vkf {

namespace {

using nlohmann::json;

/// Sizes that a name has in timm's vision_transformer.py and deit.py.
struct Architecture {
    std::int64_t width, depth, heads, patch, side;
};

struct NamedSize {
    std::string_view name;
    std::int64_t width, depth, heads;
};
constexpr NamedSize SIZES[] = {{"tiny", 192, 12, 3},
                               {"small", 384, 12, 6},
                               {"base", 768, 12, 12},
                               {"large", 1024, 24, 16},
                               {"huge", 1280, 32, 16}};
constexpr std::string_view FILTERS[] = {"nearest", "lanczos", "bilinear",
                                        "bicubic", "box",     "hamming"};  // in the order of PIL's numbers

constexpr OtherKey ARGUMENTS[] = {{"num_classes"},     {"drop_rate"},      {"attn_drop_rate"},   {"proj_drop_rate"},
                                  {"pos_drop_rate"},   {"drop_path_rate"}, {"patch_drop_rate"},  {"dynamic_img_size"},
                                  {"strict_img_size"}, {"weight_init"},    {"reg_tokens", "[0]"}};
// Keys of the whole file and of "pretrained_cfg", which were one in earlier versions: keys that are read, and keys that
// ask for nothing.
constexpr std::string_view READ[] = {"architecture", "num_classes", "label_names",   "global_pool",
                                     "model_args",   "input_size",  "interpolation", "crop_pct",
                                     "crop_mode",    "mean",        "std",           "pretrained_cfg"};
constexpr OtherKey OTHERS[] = {{"tag"},
                               {"url"},
                               {"file"},
                               {"hf_hub_id"},
                               {"hf_hub_filename"},
                               {"source"},
                               {"custom_load"},
                               {"num_features"},
                               {"label_offset"},
                               {"label_descriptions"},
                               {"fixed_input_size"},
                               {"min_input_size"},
                               {"test_input_size"},
                               {"test_crop_pct"},
                               {"pool_size"},
                               {"test_pool_size"},
                               {"license"},
                               {"description"},
                               {"origin_url"},
                               {"paper_name"},
                               {"paper_ids"},
                               {"notes"},
                               {"first_conv", R"(["patch_embed.proj"])"},
                               {"classifier", R"(["head"])"}};

std::optional<std::int64_t> whole(std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value <= 0) return std::nullopt;
    return value;
}

std::optional<Architecture> parsed(std::string_view name) {
    std::vector<std::string_view> words;
    for (std::size_t from = 0; from <= name.size();) {
        const std::size_t end = std::min(name.find('_', from), name.size());
        words.push_back(name.substr(from, end - from));
        from = end + 1;
    }
    if (words.size() != 4 || (words[0] != "vit" && words[0] != "deit") || !words[2].starts_with("patch")) return {};
    const auto* size = std::ranges::find(SIZES, words[1], &NamedSize::name);
    const auto patch = whole(words[2].substr(5)), side = whole(words[3]);
    if (size == std::end(SIZES) || !patch || !side) return {};
    return Architecture{size->width, size->depth, size->heads, *patch, *side};
}

/// Object "pretrained_cfg"; earlier versions had its keys next to the architecture.
ConfigKeys pretrained(const ConfigKeys& keys) {
    return keys.has("pretrained_cfg") ? keys.inner("pretrained_cfg") : keys;
}

ConfigKeys arguments(const ConfigKeys& keys) {
    return keys.has("model_args") ? keys.inner("model_args") : ConfigKeys(keys.where(), json::object());
}

/// A side that is a number or, as often in timm's files, two equal numbers.
std::int64_t square(const ConfigKeys& keys, const std::string& key, std::int64_t otherwise) {
    if (!keys.has(key) || !keys.value(key).is_array()) return keys.integer(key, otherwise);
    const std::vector<double> sides = keys.numbers(key);
    const bool is = sides.size() == 2 && sides[0] == sides[1] && sides[0] >= 1 && sides[0] <= 65'536;
    require(is, keys.where(), ": '", key, "' is ", keys.value(key).dump(), ", wanted a square of at most 65536");
    return static_cast<std::int64_t>(sides[0]);
}

/// Channels and side of the images.
std::array<std::int64_t, 2> input_size(const ConfigKeys& keys, std::int64_t side) {
    if (!keys.has("input_size")) return {3, side};
    const std::vector<double> size = keys.numbers("input_size");
    const bool is = size.size() == 3 && size[1] == size[2] &&
                    std::ranges::all_of(size, [](double x) { return x >= 1 && x <= 65'536 && x == std::floor(x); });
    require(is, keys.where(), ": 'input_size' is ", keys.value("input_size").dump(), ", wanted channels and a square");
    return {static_cast<std::int64_t>(size[0]), static_cast<std::int64_t>(size[1])};
}

/// Names of the classes by their numbers, from a list or an object of them.
json names_of(const ConfigKeys& keys) {
    if (keys.value("label_names").is_object()) return keys.value("label_names");
    json names = json::object();
    for (const std::string& name : keys.words("label_names")) names[std::to_string(names.size())] = name;
    return names;
}

}  // namespace

bool is_timm_config(const ConfigKeys& keys) {
    return keys.is_word("architecture") && !keys.has("model_type");
}

json timm_model(const ConfigKeys& keys) {
    const std::string name = keys.word("architecture", "");
    const std::optional<Architecture> known = parsed(name);
    require(known.has_value(), keys.where(), ": 'architecture' is '", name,
            "', wanted vit or deit, a size, patch and images' side, as vit_tiny_patch16_224");
    const ConfigKeys of = pretrained(keys), given = arguments(keys);
    for (const ConfigKeys* part : {&keys, &of}) require_understood(*part, READ, OTHERS);
    require_understood(given,
                       {{"img_size", "patch_size", "in_chans", "embed_dim", "depth", "num_heads", "mlp_ratio",
                         "qkv_bias", "class_token", "global_pool"}},
                       ARGUMENTS);
    // False or empty values have a meaning for these two keys.
    for (const ConfigKeys* part : {&keys, &given})
        require(part->word("global_pool", "token") == "token" && part->flag("class_token", true), part->where(),
                ": wanted 'global_pool' to be 'token', and 'class_token' true");
    const auto [channels, side] = input_size(of, known->side);
    const std::int64_t width = given.integer("embed_dim", known->width);
    const double ratio = given.real("mlp_ratio", 4);
    require(width > 0 && width <= 1'000'000 && ratio > 0 && ratio <= 1000, given.where(), ": embed_dim is ", width,
            " and mlp_ratio ", ratio, ", wanted above 0 and at most 1000000 and 1000");
    json model{{"model_type", "vit"},
               {"image_size", square(given, "img_size", side)},
               {"patch_size", square(given, "patch_size", known->patch)},
               {"num_channels", given.integer("in_chans", channels)},
               {"hidden_size", width},
               {"num_hidden_layers", given.integer("depth", known->depth)},
               {"num_attention_heads", given.integer("num_heads", known->heads)},
               {"intermediate_size", static_cast<std::int64_t>(static_cast<double>(width) * ratio)},
               {"hidden_act", "gelu"},
               {"layer_norm_eps", 1e-6},
               {"qkv_bias", given.flag("qkv_bias", true)},
               {"num_labels", keys.integer("num_classes", of.integer("num_classes", 1000))}};
    if (keys.has("label_names")) model["id2label"] = names_of(keys);
    return model;
}

json timm_image_processor(const ConfigKeys& keys) {
    const ConfigKeys of = pretrained(keys);
    const std::string mode = of.word("crop_mode", "center"), filter = of.word("interpolation", "bicubic");
    require(mode == "center" || mode == "squash", of.where(), ": 'crop_mode' is '", mode, "', wanted center or squash");
    const auto* named = std::ranges::find(FILTERS, filter);
    require(named != std::end(FILTERS), of.where(), ": 'interpolation' is '", filter,
            "', wanted nearest, lanczos, bilinear, bicubic, box or hamming");
    const double share = of.real("crop_pct", 0.875);
    require(share > 0 && share <= 1, of.where(), ": 'crop_pct' is ", share, ", wanted above 0 and at most 1");
    const std::int64_t side = timm_model(keys).at("image_size").get<std::int64_t>();
    const double before = std::floor(static_cast<double>(side) / share);
    require(before <= 65'536, of.where(), ": 'crop_pct' is ", share, ", of which pictures become ", before,
            " pixels, wanted at most 65536");
    json processor{{"crop_size", side},
                   {"do_center_crop", true},
                   {"crop_rounding", "even"},
                   {"resample", named - std::begin(FILTERS)},
                   {"image_mean", {0.485, 0.456, 0.406}},
                   {"image_std", {0.229, 0.224, 0.225}}};
    const auto becomes = static_cast<std::int64_t>(before);
    processor["size"] =
        mode == "squash" ? json{{"height", becomes}, {"width", becomes}} : json{{"shortest_edge", becomes}};
    if (of.has("mean")) processor["image_mean"] = of.numbers("mean");
    if (of.has("std")) processor["image_std"] = of.numbers("std");
    return processor;
}

}  // namespace vkf
