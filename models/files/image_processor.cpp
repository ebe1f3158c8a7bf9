#include "models/files/image_processor.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files/published.h"
#include "models/files/config_keys.h"
#include "models/files/timm_config.h"

namespace vkf {

namespace {

std::array<double, 3> channels(const ConfigKeys& keys, const char* key, double least) {
    const std::vector<double> found = keys.numbers(key);
    const bool fits = found.size() == 3 && std::ranges::all_of(found, [&](double x) { return x > least && x < 1e6; });
    require(fits, keys.where(), ": '", key, "' is not three numbers above ", least, ", one for red, green and blue");
    return {found[0], found[1], found[2]};
}

Statistics statistics_of(const ConfigKeys& keys) {
    const float factor = keys.number("rescale_factor", 1.0f / 255);
    require(keys.flag("do_rescale", true) && std::abs(factor * 255 - 1) < 1e-6f, keys.where(), ": rescale_factor is ",
            factor, ", wanted 1/255");
    if (!keys.flag("do_normalize", true)) return {{0, 0, 0}, {1, 1, 1}};
    return {channels(keys, "image_mean", -1e6), channels(keys, "image_std", 0)};
}

/// Side of a square given as a number, or as height and width.
std::int64_t square(const ConfigKeys& keys, const char* key) {
    if (keys.value(key).is_number()) return keys.integer(key);
    const ConfigKeys of = keys.inner(key);
    const std::int64_t height = of.integer("height"), width = of.integer("width");
    require(height == width, keys.where(), ": '", key, "' is ", width, 'x', height, ", wanted a square");
    return height;
}

/// True if pictures are resized by their shorter side: CLIP's files have a number instead of "shortest_edge".
bool by_shorter_side(const ConfigKeys& keys) {
    if (keys.value("size").is_object()) return keys.inner("size").has("shortest_edge");
    return keys.word("image_processor_type", keys.word("feature_extractor_type", "")).starts_with("CLIP");
}

ImageFit fit_of(const ConfigKeys& keys, std::int64_t side) {
    if (!keys.has("size")) return {};
    require(keys.flag("do_resize", true), keys.where(), ": do_resize is false, wanted true");
    const std::int64_t filter = keys.integer("resample", static_cast<std::int64_t>(ResizeFilter::bilinear));
    require(filter >= 0 && filter <= static_cast<std::int64_t>(ResizeFilter::hamming), keys.where(), ": resample is ",
            filter, ", wanted one of PIL's filters, 0 to 5");
    const std::string rounding = keys.word("crop_rounding", "down");
    require(rounding == "down" || rounding == "even", keys.where(), ": crop_rounding is '", rounding,
            "', wanted down or even");
    const bool by_shorter = by_shorter_side(keys), edge = by_shorter && keys.value("size").is_object();
    ImageFit made{.stretched = !by_shorter, .filter = static_cast<ResizeFilter>(filter), .even = rounding == "even"};
    std::int64_t before = edge ? keys.inner("size").integer("shortest_edge") : square(keys, "size"), cut = before;
    if (keys.has("crop_pct")) {
        constexpr std::int64_t stretched_from = 384;
        const double share = keys.real("crop_pct", 1);
        require(share > 0 && share <= 1, keys.where(), ": crop_pct is ", share, ", wanted above 0 and at most 1");
        made.stretched = before >= stretched_from;
        if (!made.stretched) before = static_cast<std::int64_t>(static_cast<double>(before) / share);
    } else {
        const bool cuts = keys.flag("do_center_crop", by_shorter && keys.has("crop_size"));
        require(!by_shorter || cuts, keys.where(), ": nothing is cut out of the middle, wanted do_center_crop");
        if (cuts && keys.has("crop_size")) cut = square(keys, "crop_size");
    }
    require(cut == side, keys.where(), ": pictures become squares of ", cut, ", the model takes ", side);
    require(before >= cut && before <= 1 << 16, keys.where(), ": a side becomes ", before, ", wanted ", cut,
            " to 65536");
    if (before != side) made.shorter = static_cast<int>(before);
    return made;
}

ImageProcessor processor_of(const ConfigKeys& keys, std::int64_t side) {
    return {statistics_of(keys), fit_of(keys, side)};
}

}  // namespace

ImageProcessor read_image_processor(const std::filesystem::path& path, std::int64_t side) {
    return processor_of(ConfigKeys::open(path), side);
}

std::optional<ImageProcessor> find_image_processor(const std::filesystem::path& model, std::int64_t side) {
    const std::filesystem::path own = model / image_processor_file;
    if (file_exists(own)) return read_image_processor(own, side);
    const ConfigKeys config = ConfigKeys::open(model / "config.json");
    if (!is_timm_config(config)) return std::nullopt;
    return processor_of(ConfigKeys(config.where(), timm_image_processor(config)), side);
}

std::string image_processor_text(const ImageProcessor& processor, std::int64_t side) {
    using nlohmann::ordered_json;
    const auto& [statistics, fit] = processor;
    const auto square = [](std::int64_t length) { return ordered_json{{"height", length}, {"width", length}}; };
    const std::int64_t before = fit.shorter > 0 ? fit.shorter : side;
    const bool cuts = !fit.stretched || before != side;
    const char* type = !fit.stretched ? "CLIPImageProcessor" : cuts ? "DeiTImageProcessor" : "ViTImageProcessor";
    ordered_json object{{"image_processor_type", type},
                        {"do_resize", true},
                        {"size", fit.stretched ? square(before) : ordered_json{{"shortest_edge", before}}}};
    if (cuts) object.update({{"do_center_crop", true}, {"crop_size", square(side)}});
    if (fit.even) object["crop_rounding"] = "even";
    object["resample"] = static_cast<int>(fit.filter);
    object.update({{"do_rescale", true},
                   {"rescale_factor", 1.0 / 255},
                   {"do_normalize", true},
                   {"image_mean", statistics.mean},
                   {"image_std", statistics.deviation}});
    return object.dump(2) + "\n";
}

}  // namespace vkf
