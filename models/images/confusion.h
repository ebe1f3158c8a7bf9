// Which classes a classifier takes for which: the counts, and a picture of them.
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
    std::uint64_t count(std::size_t label) const;  // of a class's images
    std::uint64_t count() const;                   // of all images

    /// The share of a class's images that were recognised; NaN if it has none.
    double recall(std::size_t label) const;

    /// The same of all images.
    double accuracy() const;

private:
    std::size_t classes_;
    std::vector<std::uint64_t> counts_;  // [label, prediction]
};

/// A picture: a row for each true class, a column for each prediction, cells coloured by their share of the row, the
/// accuracy above, behind the title if there is one. Up to 20 classes are shown with counts and recall; names are left
/// out where there are too many to be read.
/// Throws: InputError unless there is a name for each class, and not more classes than an image has room for.
Image draw_confusion(const ConfusionMatrix& matrix, std::span<const std::string> names, std::string_view title = {});

}  // namespace vkf
