#include "models/images/augmentation/sampler.h"

#include <algorithm>

#include "base/error.h"
#include "models/images/drawing/draw.h"

namespace vkf {

std::vector<std::size_t> epoch_order(const SamplerOptions& options, std::uint64_t epoch) {
    std::vector<std::size_t> order;
    order.reserve(options.images * options.passes);
    for (std::size_t pass = 0; pass < options.passes; ++pass) {
        Random random = epoch_stream(options.seed, "image order", epoch, pass);
        const std::vector<std::size_t> once = random.permutation(options.images);
        for (std::size_t place = 0; place < options.images; ++place) order.push_back(once[place / options.repeats]);
    }
    return order;
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
    require(options.images > 0 && options.batch > 0 && options.passes > 0 && options.repeats > 0,
            "sampler: ", options.images, " images, batches of ", options.batch, ", ", options.passes, " passes, ",
            options.repeats, " repeats, wanted at least one of each");
    require(batches() > 0, "sampler: batches of ", options.batch, ", wanted at most ", options.images * options.passes,
            ", the images of an epoch");
}

std::size_t Sampler::batches() const {
    const std::size_t shown = options_.images * options_.passes;
    return options_.drop_last ? shown / options_.batch : (shown + options_.batch - 1) / options_.batch;
}

std::span<const std::size_t> Sampler::batch(std::uint64_t epoch, std::size_t number) {
    require(number < batches(), "sampler: batch ", number, " of an epoch of ", batches());
    if (epoch != epoch_) {
        order_ = epoch_order(options_, epoch);
        epoch_ = epoch;
    }
    const std::size_t start = first_place(number);
    return std::span<const std::size_t>(order_).subspan(start, std::min(options_.batch, order_.size() - start));
}

}  // namespace vkf
