// AutoAugment's policy for CIFAR-10: one of 25 pairs of operations, each with its probability and strength.
// Cubuk, Zoph, Mane, Vasudevan, Le: AutoAugment, Learning Augmentation Policies from Data (CVPR 2019), table 7;
// strengths as in the published training code of the small-data ViT recipe, in which rotation has no sign.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/random.h"
#include "models/images/augmentation/operations.h"

namespace vkf {

struct PolicyPart {
    Operation operation = Operation::invert;
    double probability = 0.0;
    int level = 0;  // 0 … 9
};
using SubPolicy = std::array<PolicyPart, 2>;

std::span<const SubPolicy> cifar10_policy();

/// Operation of a level for an image of this size; `sign` is 1 or -1, for operations that have two directions.
///
///     shear 0.3·l/9     translate (150/331)·l/9 of the side     rotate 30·l/9 degrees (counter-clockwise only)
///     color, contrast, brightness, sharpness 1 ± 0.9·l/9     posterize round(8 - 4·l/9) bits
///     solarize 256·(1 - l/9)
///
/// Throws: InputError unless 0 ≤ level ≤ 9, and for operations that the policy does not have.
AugmentOp autoaugment_op(Operation operation, int level, int sign, int width, int height);

/// Bicubic shear; grey for points outside of the image.
inline constexpr AugmentStyle autoaugment_style = {.shear = Resampling::bicubic, .fill = {128, 128, 128}};

/// Operations that the policy chooses for one image.
struct AutoAugmentChoice {
    std::size_t sub_policy = 0;
    std::array<std::optional<AugmentOp>, 2> ops;
};
AutoAugmentChoice choose_autoaugment(Random& random, int width, int height);

/// Chooses operations and applies them.
void autoaugment(Image& image, Random& random);

}  // namespace vkf
