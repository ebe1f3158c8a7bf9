// Batches that threads prepare ahead of their use, in a bounded number of places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <utility>
#include <vector>

namespace vkf {

/// A ring of places for batches: one in use, and one per worker in which a thread prepares a batch. Threads never wait
/// for each other within a batch. A batch depends on its number alone, not on the number of workers, if `make` does.
/// `Batch` is the content of a place, and its memory is used again.
template <class Batch>
class BatchRing {
public:
    using Step = std::function<void(Batch& batch, std::uint64_t number)>;

    /// `begin` is called in the calling thread in the order of requests, `make` in a worker. Numbers are below `end`.
    BatchRing(std::size_t workers, const Batch& like, std::uint64_t end, Step begin, Step make)
        : end_(end), begin_(std::move(begin)), make_(std::move(make)) {
        for (std::size_t i = 0; i <= workers; ++i) places_.emplace_back(like);
    }
    BatchRing(const BatchRing&) = delete;  // threads use the object
    BatchRing& operator=(const BatchRing&) = delete;

    /// Batch of this number, valid until the next call. Fastest for consecutive numbers; any number is possible.
    /// Throws what `begin` and `make` throw.
    Batch& at(std::uint64_t number) {
        const std::size_t workers = places_.size() - 1;
        for (std::size_t ahead = 0; ahead < workers; ++ahead) prepare(number + ahead);
        place_of(number).made.get();
        prepare(number + workers);  // in the place of the batch before, by the free worker
        return place_of(number).batch;
    }

private:
    struct Place {
        explicit Place(const Batch& like) : batch(like) {}

        Batch batch;
        std::uint64_t number = 0;
        std::future<void> made;  // valid from the start of the work until its result is taken
    };

    Place& place_of(std::uint64_t number) { return places_[number % places_.size()]; }

    /// Starts to prepare a batch, unless its place has started already.
    void prepare(std::uint64_t number) {
        if (number >= end_) return;
        Place& place = place_of(number);
        if (place.made.valid() && place.number == number) return;
        if (place.made.valid()) place.made.wait();
        begin_(place.batch, number);
        place.number = number;
        place.made = std::async(std::launch::async, [this, &place] { make_(place.batch, place.number); });
    }

    std::uint64_t end_;
    Step begin_, make_;
    std::vector<Place> places_;
};

}  // namespace vkf
