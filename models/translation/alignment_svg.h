// A picture of what a translation model reads of a source when it writes a target.
#pragma once

#include <string>
#include <vector>

#include "models/translation/cross_attention.h"

namespace vkf {

/// The tokens of both sentences as texts, and weights of every layer.
struct Alignment {
    std::vector<std::string> source, target;
    std::vector<AlignmentWeights> layers;
};

/// An SVG with one table per layer, side by side: a column for each token of the source, a row for each of the target,
/// and the darker a cell, the greater its weight. The sentences stand at its edges.
std::string alignment_svg(const Alignment& alignment);

}  // namespace vkf
