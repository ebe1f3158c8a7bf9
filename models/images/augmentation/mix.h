// MixUp and CutMix: a batch mixed with itself in another order, and the labels of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/images/augmentation/augment.h"

namespace vkf {

/// Mixing of one batch: x'_i = x_i mixed with x_partner(i), loss λ·CE(y_i) + (1 - λ)·CE(y_partner(i)).
///
/// none: with probability 1/2; λ = 1, every image is its own partner.
/// cutmix, 1/4: the pixels of `box` come from the partner. λ ~ U(0, 1) gives the sides int(side·√(1 - λ)); the middle
/// is a uniform pixel; the box ends half a side (in integers) in either direction, or at the border; λ becomes the
/// share outside of the box. Yun, Han, Oh, Chun, Choe, Yoo: CutMix (ICCV 2019), algorithm A1.
/// mixup, 1/4: λ·x_i + (1 - λ)·x_partner(i) with λ ~ Beta(α, α). Zhang, Cisse, Dauphin, Lopez-Paz: mixup, Beyond
/// Empirical Risk Minimization (ICLR 2018), equation 2.
struct MixPlan {
    enum class Kind { none, cutmix, mixup };
    Kind kind = Kind::none;
    double lambda = 1.0;
    Box box;
    std::vector<std::size_t> partner;  // a permutation of the batch
};

struct Mixing {
    double probability = 0.5;  // of either kind
    double mixup_alpha = 1;    // α; with 1, λ is uniform
    bool reversed = false;     // partners are those of the reversed batch, as timm's; else a random permutation
};

/// Plan of a batch: a function of (seed, epoch, batch), the sizes and the options.
/// Throws: InputError if the batch or an image is empty.
MixPlan plan_mix(std::uint64_t seed, std::uint64_t epoch, std::uint64_t batch, std::size_t rows, int width, int height,
                 const Mixing& mixing = {});

/// Writes the mixed batch.
/// Shapes: images, mixed [B, C, height, width], not overlapping.
/// Numerics: fp32, λ and 1 - λ rounded to fp32 each.
/// Throws: InputError if the sizes do not fit the plan.
void mix(const MixPlan& plan, std::span<const float> images, int width, int height, std::span<float> mixed);

/// Labels of the partners, y_partner(i).
/// Throws: InputError unless there is a label for each row of the plan.
std::vector<std::int32_t> partner_labels(const MixPlan& plan, std::span<const std::int32_t> labels);

}  // namespace vkf
