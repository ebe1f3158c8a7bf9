#include "models/images/augmentation/mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "models/images/drawing/draw.h"

namespace vkf {
namespace {

Box choose_box(Random& random, double lambda, int width, int height) {
    const double share = std::sqrt(1.0 - lambda);
    const int half_width = static_cast<int>(width * share) / 2, half_height = static_cast<int>(height * share) / 2;
    const int x = index_below(random, width), y = index_below(random, height);
    Box box{std::max(x - half_width, 0), std::max(y - half_height, 0)};
    box.width = std::min(x + half_width, width) - box.left;
    box.height = std::min(y + half_height, height) - box.top;
    return box;
}

/// A number of elements as an offset of iterators.
std::ptrdiff_t offset(std::size_t n) {
    return static_cast<std::ptrdiff_t>(n);
}

}  // namespace

MixPlan plan_mix(std::uint64_t seed, std::uint64_t epoch, std::uint64_t batch, std::size_t rows, int width, int height,
                 const Mixing& mixing) {
    require(rows > 0 && width > 0 && height > 0, "mix: ", rows, " images of ", width, " x ", height,
            " pixels, wanted at least one of each");
    Random random = epoch_stream(seed, "mix", epoch, batch);
    MixPlan plan;
    plan.partner.resize(rows);
    std::iota(plan.partner.begin(), plan.partner.end(), std::size_t{0});
    if (!happens(random, mixing.probability)) return plan;
    plan.kind = happens(random, 0.5) ? MixPlan::Kind::cutmix : MixPlan::Kind::mixup;
    const bool cutmix = plan.kind == MixPlan::Kind::cutmix;
    plan.lambda = symmetric_beta(random, cutmix ? 1 : mixing.mixup_alpha);
    if (cutmix) {
        plan.box = choose_box(random, plan.lambda, width, height);
        plan.lambda = 1.0 - static_cast<double>(plan.box.width * plan.box.height) / (width * height);
    }
    if (mixing.reversed)
        std::ranges::reverse(plan.partner);
    else
        plan.partner = random.permutation(rows);
    return plan;
}

void mix(const MixPlan& plan, std::span<const float> images, int width, int height, std::span<float> mixed) {
    const std::size_t rows = plan.partner.size(), line = static_cast<std::size_t>(width);
    const std::size_t plane = line * static_cast<std::size_t>(height), unit = rows * plane;
    require(unit > 0 && images.size() % unit == 0 && images.size() > 0, "mix: ", images.size(),
            " values, wanted a multiple of ", rows, " x ", height, " x ", width);
    require(mixed.size() == images.size(), "mix: room for ", mixed.size(), " values, wanted ", images.size());
    const std::size_t channels = images.size() / unit, size = channels * plane;
    const auto [left, top, box_width, box_height] = plan.box;
    const auto lambda = static_cast<float>(plan.lambda), rest = static_cast<float>(1.0 - plan.lambda);

    for (std::size_t row = 0; row < rows; ++row) {
        const float* const own = images.data() + row * size;
        const float* const other = images.data() + plan.partner[row] * size;
        float* const out = mixed.data() + row * size;
        if (plan.kind == MixPlan::Kind::mixup) {
            for (std::size_t i = 0; i < size; ++i) out[i] = lambda * own[i] + rest * other[i];
            continue;
        }
        std::copy_n(own, size, out);
        if (plan.kind == MixPlan::Kind::none) continue;
        for (std::size_t c = 0; c < channels; ++c) {
            for (int y = top; y < top + box_height; ++y) {
                const std::ptrdiff_t start = offset(c * plane + static_cast<std::size_t>(y) * line) + left;
                std::copy_n(other + start, box_width, out + start);
            }
        }
    }
}

std::vector<std::int32_t> partner_labels(const MixPlan& plan, std::span<const std::int32_t> labels) {
    require(labels.size() == plan.partner.size(), "mix: ", labels.size(), " labels, wanted ", plan.partner.size());
    std::vector<std::int32_t> result(labels.size());
    for (std::size_t row = 0; row < result.size(); ++row) result[row] = labels[plan.partner[row]];
    return result;
}

}  // namespace vkf
