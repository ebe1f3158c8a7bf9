#include "models/translation/chrf.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/text/utf8.h"
#include "models/translation/words.h"

namespace vkf {

namespace {

std::string without_whitespace(std::string_view text) {
    std::string made;
    for (const std::string& word : split_at_whitespace(text)) made += word;
    return made;
}

/// Byte at which each character begins, and the text's end.
std::vector<std::size_t> places(const std::string& text) {
    std::vector<std::size_t> list;
    for (std::size_t at = 0; at < text.size(); at += std::max<std::size_t>(decode_utf8(text, at).bytes, 1))
        list.push_back(at);
    list.push_back(text.size());
    return list;
}

using Sequences = std::unordered_map<std::string_view, std::int64_t>;

/// Counts sequences of `order` characters. The result refers to `text`.
Sequences count_sequences_of_characters(const std::string& text, const std::vector<std::size_t>& at,
                                        std::size_t order) {
    Sequences counts;
    for (std::size_t first = 0; first + order < at.size(); ++first)
        ++counts[std::string_view(text).substr(at[first], at[first + order] - at[first])];
    return counts;
}

}  // namespace

ChrF::Orders ChrF::compare(const std::string& translation, const std::string& reference) {
    const std::vector<std::size_t> at = places(translation), reference_at = places(reference);
    Orders made{};
    for (std::size_t order = 1; order <= orders; ++order) {
        Counts& of = made[order - 1];
        const Sequences wanted = count_sequences_of_characters(reference, reference_at, order);
        for (const auto& [sequence, count] : wanted) of.wanted += count;
        if (of.wanted == 0) continue;  // a translation's sequences count only where the reference has some
        for (const auto& [sequence, count] : count_sequences_of_characters(translation, at, order)) {
            of.made += count;
            if (const auto found = wanted.find(sequence); found != wanted.end())
                of.shared += std::min(count, found->second);
        }
    }
    return made;
}

double ChrF::score(const Orders& counts) {
    constexpr double recall_weight = 4;  // the square of beta = 2
    double precision = 0, recall = 0, used = 0;
    for (const Counts& of : counts) {
        if (of.made == 0 || of.wanted == 0) continue;
        precision += static_cast<double>(of.shared) / static_cast<double>(of.made);
        recall += static_cast<double>(of.shared) / static_cast<double>(of.wanted);
        ++used;
    }
    if (precision + recall == 0) return 0;
    precision /= used;
    recall /= used;
    return 100 * (1 + recall_weight) * precision * recall / (recall_weight * precision + recall);
}

void ChrF::add(std::string_view translation, std::span<const std::string> references) {
    const std::string made = without_whitespace(translation);
    Orders best{};
    double best_score = -1;
    for (const std::string& reference : references) {
        const Orders counts = compare(made, without_whitespace(reference));
        const double of = score(counts);
        if (of <= best_score) continue;
        best_score = of;
        best = counts;
    }
    for (std::size_t i = 0; i < orders; ++i) {
        counts_[i].made += best[i].made;
        counts_[i].wanted += best[i].wanted;
        counts_[i].shared += best[i].shared;
    }
}

double ChrF::score() const {
    return score(counts_);
}

}  // namespace vkf
