#include "models/images/augmentation/timm_randaugment.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "models/images/drawing/draw.h"

namespace vkf {
namespace {

using Do = Operation;

constexpr double greatest_magnitude = 10;
constexpr double applied_share = 0.5;

/// A section of the notation: letters and a number.
struct PolicySection {
    std::string_view key, value;
};

/// Cuts the words behind the first at their dashes, and each section before its first digit.
std::vector<PolicySection> sections_of(std::string_view words) {
    std::vector<PolicySection> made;
    for (std::size_t dash = words.find('-'); dash != std::string_view::npos;) {
        words.remove_prefix(dash + 1);
        dash = words.find('-');
        const std::string_view section = words.substr(0, dash);
        const std::size_t digit = std::min(section.find_first_of("0123456789."), section.size());
        made.push_back({section.substr(0, digit), section.substr(digit)});
    }
    return made;
}

/// Number that a whole section's value spells, within two bounds.
template <class T>
T number_of(const PolicySection& section, T least, T most) {
    T number{};
    const char* const end = section.value.data() + section.value.size();
    const auto [stop, fault] = std::from_chars(section.value.data(), end, number);
    require(fault == std::errc() && stop == end && number >= least && number <= most, "auto-augment: ", section.key,
            section.value, ", wanted ", section.key, " and a number from ", least, " to ", most);
    return number;
}

}  // namespace

TimmRandAugment timm_randaugment_named(std::string_view words) {
    const std::string_view policy = words.substr(0, words.find('-'));
    require(policy == "rand", "auto-augment: ", policy, " is no known policy, wanted rand, as in rand-m9-mstd0.5-inc1");
    TimmRandAugment made;
    std::vector<std::string_view> seen;
    for (const PolicySection& section : sections_of(words)) {
        require(std::ranges::find(seen, section.key) == seen.end(), "auto-augment: ", words, " has ", section.key,
                " twice");
        seen.push_back(section.key);
        if (section.key == "m")
            made.magnitude = number_of(section, 0, static_cast<int>(greatest_magnitude));
        else if (section.key == "n")
            made.operations = number_of(section, 1, 100);
        else if (section.key == "mstd")
            made.deviation = number_of(section, 0.0, 100.0);
        else if (section.key == "inc")
            made.increasing = number_of(section, 1, 1) == 1;  // timm takes inc0 for true
        else
            throw InputError("auto-augment: ", section.key, section.value,
                             " is no known section of rand, wanted m, n, mstd or inc with a number");
    }
    return made;
}

AugmentOp timm_randaugment_op(Operation operation, double magnitude, bool increasing, int sign, int width, int height) {
    require(magnitude >= 0 && magnitude <= greatest_magnitude, "rand: magnitude ", magnitude, ", wanted 0 to 10");
    const double level = magnitude / greatest_magnitude;  // products in timm's order of rounding
    const auto with = [&](double amount) { return AugmentOp{operation, amount}; };
    const auto whole = [&](int greatest) { return static_cast<int>(level * greatest); };
    switch (operation) {
        case Do::invert:
        case Do::autocontrast:
        case Do::equalize:
            return with(0);
        case Do::rotate:
            return with(level * 30 * sign);
        case Do::posterize:
            return with(increasing ? 4 - whole(4) : whole(4));
        case Do::solarize:
            return with(increasing ? 256 - whole(256) : whole(256));
        case Do::brighten_dark:
            return with(whole(110));
        case Do::color:
        case Do::contrast:
        case Do::brightness:
        case Do::sharpness:
            return with(increasing ? 1 + level * 0.9 * sign : level * 1.8 + 0.1);
        case Do::shear_x:
        case Do::shear_y:
            return with(level * 0.3 * sign);
        case Do::translate_x:
            return with(level * 0.45 * sign * width);
        case Do::translate_y:
            return with(level * 0.45 * sign * height);
        default:
            throw InputError("rand: ", name_of(operation), " is no operation of the policy");
    }
}

std::optional<AugmentOp> choose_timm_randaugment(Random& random, const TimmRandAugment& options, int width,
                                                 int height) {
    const int chosen = index_below(random, static_cast<int>(timm_randaugment_operations.size()));
    if (!happens(random, applied_share)) return std::nullopt;
    double magnitude = options.magnitude;
    if (options.deviation > 0)
        magnitude = std::clamp(magnitude + options.deviation * random.normal(), 0.0, greatest_magnitude);
    return timm_randaugment_op(timm_randaugment_operations[static_cast<std::size_t>(chosen)], magnitude,
                               options.increasing, sign(random), width, height);
}

AugmentStyle timm_randaugment_style(const Statistics& statistics) {
    AugmentStyle made{.shear = Resampling::bicubic, .motion = Resampling::bicubic};
    for (int c = 0; c < CHANNELS; ++c)
        made.fill[c] = static_cast<std::uint8_t>(
            std::clamp(std::nearbyint(255 * statistics.mean[static_cast<std::size_t>(c)]), 0.0, 255.0));
    return made;
}

void timm_randaugment(Image& image, Random& random, const TimmRandAugment& options, const AugmentStyle& style) {
    for (int i = 0; i < options.operations; ++i) {
        const auto op = choose_timm_randaugment(random, options, image.width(), image.height());
        if (op) apply(image, *op, style);
    }
}

}  // namespace vkf
