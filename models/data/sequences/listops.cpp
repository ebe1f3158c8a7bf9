#include "models/data/sequences/listops.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "base/error.h"
#include "base/random.h"

namespace vkf {

namespace {

constexpr std::array<std::string_view, 4> OPERATORS{"[MIN", "[MAX", "[MED", "[SM"};

/// One candidate. It is given up as soon as it is too long, so that a tree that never ends costs no more than others.
class ListOpsCandidate {
public:
    ListOpsCandidate(const ListOpsRules& rules, Random random) : rules_(rules), random_(random) {}

    std::optional<ListOpsExample> draw() {
        made_.value = node(1);
        if (made_.length < rules_.min_length || too_long()) return {};
        return std::move(made_);
    }

private:
    int node(std::int64_t depth) {
        const bool is_operator = depth < rules_.max_depth && random_.below(4) == 0;
        if (!is_operator) {
            const int digit = static_cast<int>(random_.below(10));
            add(std::string_view("0123456789").substr(static_cast<std::size_t>(digit), 1));
            return digit;
        }
        const std::uint64_t op = random_.below(OPERATORS.size());
        const std::uint64_t count = 2 + random_.below(static_cast<std::uint64_t>(rules_.max_args) - 1);
        add(OPERATORS[op]);
        std::vector<int> arguments;
        for (std::uint64_t i = 0; i < count && !too_long(); ++i) arguments.push_back(node(depth + 1));
        add("]");
        return arguments.empty() ? 0 : listops_value(static_cast<ListOp>(op), std::move(arguments));
    }
    void add(std::string_view token) {
        if (made_.length++ > 0) made_.source += ' ';
        made_.source += token;
    }
    bool too_long() const { return made_.length > rules_.max_length; }

    const ListOpsRules& rules_;
    Random random_;
    ListOpsExample made_;
};

/// Tokens of the longest expression of these sizes; `most` if it has as many or more.
std::int64_t longest(const ListOpsRules& rules, std::int64_t most) {
    std::int64_t length = 1;
    for (std::int64_t depth = 1; depth < rules.max_depth && length < most; ++depth)
        length = 2 + rules.max_args * length;
    return std::min(length, most);
}

}  // namespace

void ListOpsRules::check() const {
    require(min_length <= max_length, "--min-length ", min_length, " is more than --max-length ", max_length);
    const std::int64_t most = longest(*this, min_length);
    require(most >= min_length, "--min-length is ", min_length, ", but expressions of --max-depth ", max_depth,
            " and --max-args ", max_args, " have at most ", most, " tokens");
}

int listops_value(ListOp op, std::vector<int> arguments) {
    switch (op) {
        case ListOp::min:
            return std::ranges::min(arguments);
        case ListOp::max:
            return std::ranges::max(arguments);
        case ListOp::median: {
            std::ranges::sort(arguments);
            const std::size_t n = arguments.size();
            return (arguments[(n - 1) / 2] + arguments[n / 2]) / 2;
        }
        case ListOp::sum_modulo:
            return std::accumulate(arguments.begin(), arguments.end(), 0) % 10;
    }
    return 0;
}

std::optional<ListOpsExample> ListOps::candidate() {
    return ListOpsCandidate(rules_, Random(seed_, "listops", candidates_++)).draw();
}

bool ListOps::is_new(const ListOpsExample& example) {
    return seen_.insert(hash_name(example.source)).second;
}

}  // namespace vkf
