// chrF (Popović: "chrF: character n-gram F-score for automatic MT evaluation", 2015): how many sequences of one to six
// characters translations share with references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vkf {

/// Score of a corpus, as sacrebleu 2 computes chrF2 by default: characters without whitespace, recall counts four times
/// as much as precision, and orders that no line has are left out. Of several references of a line, the one with the
/// best score counts.
class ChrF {
public:
    static constexpr std::size_t orders = 6;  // longest sequence of characters

    /// Adds a line, with at least one reference. All are UTF-8.
    void add(std::string_view translation, std::span<const std::string> references);

    /// 0 … 100.
    double score() const;

private:
    /// Sequences of one order: of translations, of references, and in both.
    struct Counts {
        std::int64_t made = 0, wanted = 0, shared = 0;
    };
    using Orders = std::array<Counts, orders>;

    static Orders compare(const std::string& translation, const std::string& reference);
    static double score(const Orders& counts);

    Orders counts_{};
};

}  // namespace vkf
