// Passages of long texts, for classifiers that tell which text a passage is from.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace vkf {

/// Passages of a text in its order, by split. The spans point into the text.
struct Passages {
    std::vector<std::string_view> train, val, test;
};

/// Shares of the passages for validation and test, at the end of a text.
struct PassageShares {
    double val = 0.1, test = 0.1;
};

/// Cuts a UTF-8 text into passages of `bytes` bytes, or up to three less where a character would be cut; the rest at
/// the end, which is shorter, is left out. No byte is in two passages, and each split is one continuous part of the
/// text: the first for training, the next for validation, the last for the test, so that no passage of one split lies
/// between those of another.
Passages cut_passages(std::string_view text, std::size_t bytes, const PassageShares& shares);

}  // namespace vkf
