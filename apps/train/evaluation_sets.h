// Sets that a run evaluates on, each with batches of several shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/train/token_feed.h"
#include "models/train/trainer.h"

namespace vkf {

/// Sets in an order. Their batches are numbered one set after the other, and so are their shapes. A set has `batches`,
/// with the functions count(), shapes(), shape_of(number) and at(number).
template <class Set>
class EvaluationSets {
public:
    void add(std::unique_ptr<Set> set) { sets_.push_back(std::move(set)); }
    const std::vector<std::unique_ptr<Set>>& all() const { return sets_; }

    /// Batches of all sets.
    std::uint64_t count() const {
        std::uint64_t sum = 0;
        for (const auto& set : sets_) sum += set->batches.count();
        return sum;
    }
    /// Graphs of the losses: `loss` returns that of a shape, and `weight` the weight of a batch of a set.
    LossGraphs losses(const auto& loss, std::function<double(const Set&, std::uint64_t number)> weight) const {
        LossGraphs made;
        for (const auto& set : sets_)
            for (const auto& shape : set->batches.shapes()) made.shapes.push_back(loss(shape));
        made.shape_of = [this](std::uint64_t number) {
            const Place at = place(number);
            return at.shapes_before + at.set->batches.shape_of(at.number);
        };
        made.weight_of = [this, weight = std::move(weight)](std::uint64_t number) {
            const Place at = place(number);
            return weight(*at.set, at.number);
        };
        return made;
    }
    /// Batch `number`.
    Batch at(std::uint64_t number) const {
        const Place at = place(number);
        return at.set->batches.at(at.number);
    }
    Feed feed() const {
        return [this](Program& program, std::uint64_t number) { write_batch(program, at(number)); };
    }

private:
    struct Place {
        const Set* set;
        std::uint64_t number;
        std::size_t shapes_before;
    };
    Place place(std::uint64_t number) const {
        std::size_t shapes = 0;
        for (const auto& set : sets_) {
            if (number < set->batches.count()) return {set.get(), number, shapes};
            number -= set->batches.count();
            shapes += set->batches.shapes().size();
        }
        throw std::logic_error("an evaluation has no batch of this number");
    }

    std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace vkf
