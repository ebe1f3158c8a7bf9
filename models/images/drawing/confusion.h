// Confusion matrix of a classifier: counts of predictions for each true class, and a picture of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/images/image.h"

namespace vkf {

class ConfusionMatrix {
public:
    /// Throws: InputError if there are no classes.
    explicit ConfusionMatrix(std::size_t classes);

    /// Counts one image. Throws: InputError unless 0 ≤ label, prediction < classes.
    void add(std::int64_t label, std::int64_t prediction);

    std::size_t classes() const { return classes_; }
    std::uint64_t count(std::size_t label, std::size_t prediction) const;
    std::uint64_t count(std::size_t label) const;  // images of a class
    std::uint64_t count() const;                   // all images

    /// Share of a class's images that were recognised; NaN if it has none.
    double recall(std::size_t label) const;

    /// Share of all images that were recognised; NaN if there are none.
    double accuracy() const;

private:
    std::size_t classes_;
    std::vector<std::uint64_t> counts_;  // [label, prediction]
};

/// Draws a row for each true class and a column for each prediction, cells coloured by their share of the row, and the
/// accuracy above, after the title if there is one. Up to 20 classes are shown with counts and recall; names are left
/// out if there are too many to be read.
/// Throws: InputError unless there is a name for each class, and not more classes than an image has room for.
Image draw_confusion(const ConfusionMatrix& matrix, std::span<const std::string> names, std::string_view title = {});

}  // namespace vkf
