#include "models/images/augmentation/autoaugment.h"

#include <cmath>

#include "base/error.h"
#include "models/images/drawing/draw.h"

namespace vkf {
namespace {

using Do = Operation;

// One pair per line.
// clang-format off
constexpr std::array<SubPolicy, 25> policy = {{
    {{{Do::invert, 0.1, 7}, {Do::contrast, 0.2, 6}}},
    {{{Do::rotate, 0.7, 2}, {Do::translate_x, 0.3, 9}}},
    {{{Do::sharpness, 0.8, 1}, {Do::sharpness, 0.9, 3}}},
    {{{Do::shear_y, 0.5, 8}, {Do::translate_y, 0.7, 9}}},
    {{{Do::autocontrast, 0.5, 8}, {Do::equalize, 0.9, 2}}},
    {{{Do::shear_y, 0.2, 7}, {Do::posterize, 0.3, 7}}},
    {{{Do::color, 0.4, 3}, {Do::brightness, 0.6, 7}}},
    {{{Do::sharpness, 0.3, 9}, {Do::brightness, 0.7, 9}}},
    {{{Do::equalize, 0.6, 5}, {Do::equalize, 0.5, 1}}},
    {{{Do::contrast, 0.6, 7}, {Do::sharpness, 0.6, 5}}},
    {{{Do::color, 0.7, 7}, {Do::translate_x, 0.5, 8}}},
    {{{Do::equalize, 0.3, 7}, {Do::autocontrast, 0.4, 8}}},
    {{{Do::translate_y, 0.4, 3}, {Do::sharpness, 0.2, 6}}},
    {{{Do::brightness, 0.9, 6}, {Do::color, 0.2, 8}}},
    {{{Do::solarize, 0.5, 2}, {Do::invert, 0.0, 3}}},
    {{{Do::equalize, 0.2, 0}, {Do::autocontrast, 0.6, 0}}},
    {{{Do::equalize, 0.2, 8}, {Do::equalize, 0.6, 4}}},
    {{{Do::color, 0.9, 9}, {Do::equalize, 0.6, 6}}},
    {{{Do::autocontrast, 0.8, 4}, {Do::solarize, 0.2, 8}}},
    {{{Do::brightness, 0.1, 3}, {Do::color, 0.7, 0}}},
    {{{Do::solarize, 0.4, 5}, {Do::autocontrast, 0.9, 3}}},
    {{{Do::translate_y, 0.9, 9}, {Do::translate_y, 0.7, 9}}},
    {{{Do::autocontrast, 0.9, 2}, {Do::solarize, 0.8, 3}}},
    {{{Do::equalize, 0.8, 8}, {Do::invert, 0.1, 3}}},
    {{{Do::translate_y, 0.7, 9}, {Do::autocontrast, 0.9, 1}}},
}};
// clang-format on

/// Level of ten evenly spaced values, in NumPy's order of rounding.
double spaced(double first, double last, int level) {
    return level == 9 ? last : level * ((last - first) / 9) + first;
}

}  // namespace

std::span<const SubPolicy> cifar10_policy() {
    return policy;
}

AugmentOp autoaugment_op(Operation operation, int level, int sign, int width, int height) {
    require(level >= 0 && level <= 9, "autoaugment: level ", level, ", wanted 0 to 9");
    const auto with = [&](double amount) { return AugmentOp{operation, amount}; };
    constexpr double farthest = 150.0 / 331;
    switch (operation) {
        case Do::shear_x:
        case Do::shear_y:
            return with(spaced(0, 0.3, level) * sign);
        case Do::translate_x:
            return with(spaced(0, farthest, level) * width * sign);
        case Do::translate_y:
            return with(spaced(0, farthest, level) * height * sign);
        case Do::rotate:
            return with(spaced(0, 30, level));
        case Do::posterize:
            return with(std::nearbyint(spaced(8, 4, level)));
        case Do::solarize:
            return with(spaced(256, 0, level));
        case Do::color:
        case Do::contrast:
        case Do::brightness:
        case Do::sharpness:
            return with(1 + spaced(0, 0.9, level) * sign);
        case Do::invert:
        case Do::autocontrast:
        case Do::equalize:
            return with(0);
        default:
            throw InputError("autoaugment: ", name_of(operation), " is no operation of the policy");
    }
}

AutoAugmentChoice choose_autoaugment(Random& random, int width, int height) {
    AutoAugmentChoice choice;
    choice.sub_policy = static_cast<std::size_t>(random.below(policy.size()));
    for (std::size_t part = 0; part < 2; ++part) {
        const auto [operation, probability, level] = policy[choice.sub_policy][part];
        if (!happens(random, probability)) continue;
        choice.ops[part] = autoaugment_op(operation, level, sign(random), width, height);
    }
    return choice;
}

void autoaugment(Image& image, Random& random) {
    for (const auto& op : choose_autoaugment(random, image.width(), image.height()).ops) {
        if (op) apply(image, *op, autoaugment_style);
    }
}

}  // namespace vkf
