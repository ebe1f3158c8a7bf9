#include "models/translation/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "models/translation/words.h"

namespace vkf {

namespace {

using Counts = std::unordered_map<std::string, std::int64_t>;

/// Counts sequences of `order` words, by their words with spaces between them.
Counts count_sequences(const std::vector<std::string>& words, std::size_t order) {
    Counts counts;
    for (std::size_t first = 0; first + order <= words.size(); ++first) {
        std::string sequence = words[first];
        for (std::size_t i = 1; i < order; ++i) sequence.append(1, ' ').append(words[first + i]);
        ++counts[std::move(sequence)];
    }
    return counts;
}

/// True if length a is closer to `wanted` than b, or as close and shorter.
bool closer(std::int64_t a, std::int64_t b, std::int64_t wanted) {
    const std::int64_t to_a = std::abs(wanted - a), to_b = std::abs(wanted - b);
    return to_a < to_b || (to_a == to_b && a < b);
}

}  // namespace

void Bleu::add(std::string_view translation, std::span<const std::string> references) {
    const std::vector<std::string> words = words_13a(translation);
    std::vector<std::vector<std::string>> wanted;
    for (const std::string& reference : references) wanted.push_back(words_13a(reference));

    const auto length = static_cast<std::int64_t>(words.size());
    auto best = static_cast<std::int64_t>(wanted.front().size());
    for (const auto& reference : wanted) {
        const auto other = static_cast<std::int64_t>(reference.size());
        if (closer(other, best, length)) best = other;
    }
    words_ += length;
    reference_words_ += best;

    for (std::size_t order = 1; order <= BLEU_ORDERS; ++order) {
        Counts most;
        for (const auto& reference : wanted) {
            for (const auto& [sequence, count] : count_sequences(reference, order)) {
                std::int64_t& of = most[sequence];
                of = std::max(of, count);
            }
        }
        for (const auto& [sequence, count] : count_sequences(words, order)) {
            made_[order - 1] += count;
            if (const auto found = most.find(sequence); found != most.end())
                shared_[order - 1] += std::min(count, found->second);
        }
    }
}

BleuScore Bleu::score() const {
    BleuScore made;
    made.words = words_;
    made.reference_words = reference_words_;
    const double ratio = static_cast<double>(reference_words_) / static_cast<double>(std::max(words_, std::int64_t{1}));
    made.brevity = words_ == 0 ? (reference_words_ == 0 ? 1 : 0) : words_ < reference_words_ ? std::exp(1 - ratio) : 1;
    if (std::ranges::all_of(shared_, [](std::int64_t count) { return count == 0; })) return made;

    double logarithms = 0, smoothing = 1;
    for (std::size_t i = 0; i < BLEU_ORDERS; ++i) {
        if (made_[i] == 0) return made;  // no translation has so many words: the score stays 0
        const auto all = static_cast<double>(made_[i]);
        if (shared_[i] == 0) smoothing *= 2;
        made.precisions[i] = shared_[i] == 0 ? 100 / (smoothing * all) : 100 * static_cast<double>(shared_[i]) / all;
        logarithms += std::log(made.precisions[i]);
    }
    made.score = made.brevity * std::exp(logarithms / BLEU_ORDERS);
    return made;
}

}  // namespace vkf
