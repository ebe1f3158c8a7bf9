#include "models/images/augmentation/randaugment.h"

#include <algorithm>

#include "base/error.h"
#include "models/images/drawing/draw.h"

namespace vkf {
namespace {

using Do = Operation;

}  // namespace

double randaugment_amount(Operation operation, int magnitude) {
    require(magnitude >= 0 && magnitude <= 30, "randaugment: magnitude ", magnitude, ", wanted 0 to 30");
    const auto within = [&](double least, double greatest) { return magnitude / 30.0 * (greatest - least) + least; };
    switch (operation) {
        case Do::invert:
        case Do::autocontrast:
        case Do::equalize:
            return 0;
        case Do::rotate:
            return within(0, 30);
        case Do::posterize:
            return std::max(1, static_cast<int>(within(0, 4)));
        case Do::solarize:
            return within(0, 256);
        case Do::solarize_add:
            return within(0, 110);
        case Do::color:
        case Do::contrast:
        case Do::brightness:
        case Do::sharpness:
            return within(0.1, 1.9);
        case Do::shear_x:
        case Do::shear_y:
            return within(0, 0.3);
        case Do::cutout:
            return within(0, 40);
        case Do::translate_x:
        case Do::translate_y:
            return within(0, 100);
        case Do::brighten_dark:
            break;
    }
    throw Error("randaugment: ", name_of(operation), " is no operation of the recipe");
}

AugmentOp choose_randaugment(Random& random, int magnitude, int width, int height) {
    const auto operation = static_cast<Operation>(index_below(random, randaugment_operations));
    AugmentOp op{operation, randaugment_amount(operation, magnitude)};
    switch (operation) {
        case Do::shear_x:
        case Do::shear_y:
        case Do::translate_x:
        case Do::translate_y:
        case Do::rotate:
            op.amount *= sign(random);
            break;
        case Do::cutout:
            op.x = between(random, width, 1.0);
            op.y = between(random, height, 1.0);
            break;
        default:
            break;
    }
    return op;
}

void randaugment(Image& image, Random& random, const RandAugment& options) {
    for (int i = 0; i < options.operations; ++i) {
        apply(image, choose_randaugment(random, options.magnitude, image.width(), image.height()), randaugment_style);
    }
}

}  // namespace vkf
