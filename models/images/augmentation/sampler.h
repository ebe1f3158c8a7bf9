// Images of a batch: every image once in a random order, or several times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace vkf {

/// An epoch shows every image `passes` times: that many permutations, one after the other, are cut into batches across
/// their borders. With repeated augmentation (Hoffer et al. 2020, as DeiT samples on one device) every image of a
/// permutation follows itself until it was shown `repeats` times, and a pass ends after as many images as there are:
/// it shows the first 1/repeats of the permutation. drop_last leaves out the incomplete batch at the end.
struct SamplerOptions {
    std::size_t images = 0;
    std::size_t batch = 1;
    std::size_t passes = 1;
    bool drop_last = false;
    std::uint64_t seed = 0;
    std::size_t repeats = 1;
};

/// Order of all images of an epoch: a function of the options' images, passes, repeats and seed, and of the epoch.
/// Pass p is the permutation of the stream (seed, "image order", epoch, p).
std::vector<std::size_t> epoch_order(const SamplerOptions& options, std::uint64_t epoch);

/// Batches by (epoch, number); keeps the order of the last requested epoch.
class Sampler {
public:
    /// Throws: InputError unless there are images, passes and a batch size, and at least one batch in an epoch.
    explicit Sampler(const SamplerOptions& options);

    /// Number of batches in an epoch.
    std::size_t batches() const;

    /// Place of a batch's first image in the epoch, as Augmenter::train counts.
    std::size_t first_place(std::size_t number) const { return number * options_.batch; }

    /// Images of a batch; valid until another epoch is requested.
    /// Throws: InputError unless number < batches().
    std::span<const std::size_t> batch(std::uint64_t epoch, std::size_t number);

private:
    SamplerOptions options_;
    std::uint64_t epoch_ = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::size_t> order_;
};

}  // namespace vkf
