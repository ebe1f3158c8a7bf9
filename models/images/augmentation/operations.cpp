#include "models/images/augmentation/operations.h"

#include "base/error.h"

namespace vkf {

std::string_view name_of(Operation operation) {
    switch (operation) {
        case Operation::shear_x:
            return "shear_x";
        case Operation::shear_y:
            return "shear_y";
        case Operation::translate_x:
            return "translate_x";
        case Operation::translate_y:
            return "translate_y";
        case Operation::rotate:
            return "rotate";
        case Operation::posterize:
            return "posterize";
        case Operation::solarize:
            return "solarize";
        case Operation::solarize_add:
            return "solarize_add";
        case Operation::invert:
            return "invert";
        case Operation::autocontrast:
            return "autocontrast";
        case Operation::equalize:
            return "equalize";
        case Operation::color:
            return "color";
        case Operation::contrast:
            return "contrast";
        case Operation::brightness:
            return "brightness";
        case Operation::sharpness:
            return "sharpness";
        case Operation::cutout:
            return "cutout";
        case Operation::brighten_dark:
            return "brighten_dark";
    }
    throw Error("image: there is no operation ", static_cast<int>(operation));
}

void apply(Image& image, const AugmentOp& op, const AugmentStyle& style) {
    switch (op.operation) {
        case Operation::shear_x:
            return shear_x(image, op.amount, style.shear, style.fill);
        case Operation::shear_y:
            return shear_y(image, op.amount, style.shear, style.fill);
        case Operation::translate_x:
            return translate_x(image, op.amount, style.motion, style.fill);
        case Operation::translate_y:
            return translate_y(image, op.amount, style.motion, style.fill);
        case Operation::rotate:
            return rotate(image, op.amount, style.motion, style.fill);
        case Operation::posterize:
            return posterize(image, static_cast<int>(op.amount));
        case Operation::solarize:
            return solarize(image, op.amount);
        case Operation::solarize_add:
            return solarize_add(image, op.amount);
        case Operation::invert:
            return invert(image);
        case Operation::autocontrast:
            return autocontrast(image);
        case Operation::equalize:
            return equalize(image);
        case Operation::color:
            return color(image, op.amount);
        case Operation::contrast:
            return contrast(image, op.amount);
        case Operation::brightness:
            return brightness(image, op.amount);
        case Operation::sharpness:
            return sharpness(image, op.amount);
        case Operation::cutout:
            return cutout(image, op.x, op.y, op.amount, style.cutout);
        case Operation::brighten_dark:
            return brighten_dark(image, static_cast<int>(op.amount));
    }
    throw Error("image: there is no operation ", static_cast<int>(op.operation));
}

}  // namespace vkf
