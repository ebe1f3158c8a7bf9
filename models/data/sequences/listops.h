// ListOps: expressions over digits whose value is one of ten classes. Nangia and Bowman, ListOps: A Diagnostic Dataset
// for Latent Tree Learning, 2018, with the operators, probabilities and sizes of Long Range Arena (Tay et al., 2020).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace vkf {

/// Sizes of expressions. Long Range Arena keeps lengths strictly between 500 and 2000.
struct ListOpsRules {
    std::int64_t max_depth = 10;    // levels of the tree, that of the outermost operator and that of digits included
    std::int64_t max_args = 10;     // arguments of an operator, at least 2
    std::int64_t min_length = 501;  // tokens of an expression: digits, operators with their bracket, closing brackets
    std::int64_t max_length = 1999;

    /// Throws InputError naming the option if no expression has such a length.
    void check() const;
};

struct ListOpsExample {
    std::string source;       // "[MAX 2 9 [MIN 4 7 ] 0 ]": tokens with spaces between them
    std::int64_t length = 0;  // tokens
    int value = 0;            // 0 … 9
};

/// Value of MIN, MAX, MED (median) or SM (sum modulo 10). The median of an even count is the mean of the two middle
/// values, rounded down. `arguments` are digits, at least one.
enum class ListOp : std::uint8_t { min, max, median, sum_modulo };
int listops_value(ListOp op, std::vector<int> arguments);

/// Expressions of a seed, all different. Candidate i is drawn from the stream (seed, "listops", i): above the deepest
/// level a node is an operator with probability 1/4, else a digit. Operators, digits, and numbers of arguments from 2
/// to max_args are equally likely. Candidates of other lengths, and those that came before, are left out.
class ListOps {
public:
    ListOps(const ListOpsRules& rules, std::uint64_t seed) : rules_(rules), seed_(seed) { rules.check(); }

    /// The next expression; nothing if ten million candidates in a row were left out. `keep_on` is called now and then
    /// and may throw to stop the search.
    template <class KeepOn>
    std::optional<ListOpsExample> next(const KeepOn& keep_on) {
        for (std::int64_t tried = 0; tried < most_tries; ++tried) {
            if (tried % 1024 == 0) keep_on();
            if (std::optional<ListOpsExample> found = candidate(); found && is_new(*found)) return found;
        }
        return {};
    }

private:
    static constexpr std::int64_t most_tries = 10'000'000;

    /// The next candidate; nothing if its length is not wanted.
    std::optional<ListOpsExample> candidate();
    bool is_new(const ListOpsExample& example);

    ListOpsRules rules_;
    std::uint64_t seed_, candidates_ = 0;
    /// 64-bit hashes: an expression that shares its hash with an earlier one counts as that one.
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace vkf
