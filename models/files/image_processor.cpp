#include "models/files/image_processor.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/files/config_keys.h"

namespace vkf {

namespace {

std::array<double, 3> channels(const ConfigKeys& keys, const char* key, double least) {
    const std::vector<double> found = keys.numbers(key);
    const bool fits = found.size() == 3 && std::ranges::all_of(found, [&](double x) { return x > least && x < 1e6; });
    require(fits, keys.where(), ": '", key, "' is not three numbers above ", least, ", one for red, green and blue");
    return {found[0], found[1], found[2]};
}

}  // namespace

Statistics read_image_processor(const std::filesystem::path& path) {
    const ConfigKeys keys = ConfigKeys::open(path);
    const float factor = keys.number("rescale_factor", 1.0f / 255);
    require(keys.flag("do_rescale", true) && std::abs(factor * 255 - 1) < 1e-6f, path.string(), ": rescale_factor is ",
            factor, ", wanted 1/255");
    if (!keys.flag("do_normalize", true)) return {{0, 0, 0}, {1, 1, 1}};
    return {channels(keys, "image_mean", -1e6), channels(keys, "image_std", 0)};
}

std::string image_processor_text(const Statistics& statistics, std::int64_t side) {
    const nlohmann::ordered_json object{{"image_processor_type", "ViTImageProcessor"},
                                        {"do_resize", true},
                                        {"size", {{"height", side}, {"width", side}}},
                                        {"do_rescale", true},
                                        {"rescale_factor", 1.0 / 255},
                                        {"do_normalize", true},
                                        {"image_mean", statistics.mean},
                                        {"image_std", statistics.deviation}};
    return object.dump(2) + "\n";
}

}  // namespace vkf
