// ListOps: values by an evaluator of its own, sizes, and repeatable draws.

#include "models/data/sequences/listops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "scratch.h"

namespace vkf::test {
namespace {

/// Reads an expression from the left, one token at a time, with a stack of operators that are not closed yet.
struct Evaluated {
    explicit Evaluated(const std::string& source) {
        struct Open {
            std::string op;
            std::multiset<int> arguments;
        };
        std::vector<Open> stack{{"result", {}}};
        std::istringstream words(source);
        for (std::string word; words >> word; ++tokens) {
            depth = std::max(depth, static_cast<std::int64_t>(stack.size()));
            if (word.front() == '[') {
                stack.push_back({word.substr(1), {}});
            } else if (word != "]") {
                EXPECT_TRUE(word.size() == 1 && word[0] >= '0' && word[0] <= '9') << word;
                stack.back().arguments.insert(word[0] - '0');
            } else {
                const Open closed = stack.back();
                stack.pop_back();
                most_arguments = std::max(most_arguments, closed.arguments.size());
                least_arguments = std::min(least_arguments, closed.arguments.size());
                stack.back().arguments.insert(value_of(closed.op, closed.arguments));
                ++operators[closed.op];
            }
        }
        EXPECT_EQ(stack.size(), 1u) << source;
        EXPECT_EQ(stack.front().arguments.size(), 1u) << source;
        value = *stack.front().arguments.begin();
    }

    static int value_of(const std::string& op, const std::multiset<int>& sorted) {
        if (op == "MIN") return *sorted.begin();
        if (op == "MAX") return *sorted.rbegin();
        int sum = 0;
        for (const int digit : sorted) sum += digit;
        if (op == "SM") return sum % 10;
        EXPECT_EQ(op, "MED");
        const auto middle = std::next(sorted.begin(), static_cast<std::ptrdiff_t>(sorted.size() / 2));
        // Both middle digits are at least 0, so that the division rounds as numpy's conversion to int does.
        return sorted.size() % 2 == 1 ? *middle : (*std::prev(middle) + *middle) / 2;
    }

    int value = -1;
    std::int64_t tokens = 0, depth = 0;
    std::size_t most_arguments = 0, least_arguments = 1000;
    std::map<std::string, int> operators;
};

const auto go_on = [] {};

std::vector<ListOpsExample> drawn(const ListOpsRules& rules, std::uint64_t seed, std::size_t count) {
    ListOps expressions(rules, seed);
    std::vector<ListOpsExample> all;
    while (all.size() < count) all.push_back(expressions.next(go_on).value());
    return all;
}

TEST(HostListOps, OperatorsHaveThePublishedValues) {
    EXPECT_EQ(listops_value(ListOp::min, {4, 7, 2}), 2);
    EXPECT_EQ(listops_value(ListOp::max, {4, 7, 2}), 7);
    EXPECT_EQ(listops_value(ListOp::median, {9, 0, 4}), 4);
    EXPECT_EQ(listops_value(ListOp::median, {9, 0, 4, 7}), 5);  // 5.5, rounded down
    EXPECT_EQ(listops_value(ListOp::median, {3, 3}), 3);
    EXPECT_EQ(listops_value(ListOp::sum_modulo, {9, 9, 5}), 3);
    EXPECT_EQ(Evaluated("[MAX 2 9 [MIN 4 7 ] 0 ]").value, 9);
    EXPECT_EQ(Evaluated("[SM [MED 1 8 ] 9 [MAX 3 0 ] ]").value, 6);
}

TEST(HostListOps, ExamplesHaveTheirValueAndTheSizesOfTheRules) {
    const ListOpsRules published, small{.max_depth = 4, .max_args = 3, .min_length = 1, .max_length = 30};
    for (const ListOpsRules& rules : {published, small}) {
        std::map<std::string, int> operators;
        std::set<int> values;
        std::int64_t depth = 0;
        std::size_t arguments = 0;
        for (const ListOpsExample& example : drawn(rules, 7, 300)) {
            const Evaluated found(example.source);
            EXPECT_EQ(example.value, found.value) << example.source;
            EXPECT_EQ(example.length, found.tokens);
            EXPECT_GE(found.tokens, rules.min_length);
            EXPECT_LE(found.tokens, rules.max_length);
            EXPECT_LE(found.depth, rules.max_depth);
            EXPECT_LE(found.most_arguments, static_cast<std::size_t>(rules.max_args));
            EXPECT_GE(found.least_arguments, 2u);
            depth = std::max(depth, found.depth);
            arguments = std::max(arguments, found.most_arguments);
            for (const auto& [op, count] : found.operators) operators[op] += count;
            values.insert(found.value);
        }
        // Limits are reached, all operators are drawn, and all values occur.
        EXPECT_EQ(depth, rules.max_depth);
        EXPECT_EQ(arguments, static_cast<std::size_t>(rules.max_args));
        EXPECT_EQ(operators.size(), 4u);
        EXPECT_EQ(values.size(), 10u);
    }
}

/// Expressions of six arguments are hardly ever drawn twice, so that leaving out repetitions does not show.
TEST(HostListOps, OperatorsAreAQuarterOfTheNodesAndEquallyLikely) {
    const ListOpsRules rules{.max_depth = 3, .max_args = 6, .min_length = 1, .max_length = 1000};
    std::map<std::string, double> operators;
    double arguments = 0, of_operators = 0;
    for (const ListOpsExample& example : drawn(rules, 3, 20'000)) {
        std::istringstream words(example.source);
        std::vector<std::string> seconds;  // nodes of the second level
        std::int64_t level = 0;
        for (std::string word; words >> word;) {
            if (word == "]") {
                --level;
                continue;
            }
            if (level == 1) seconds.push_back(word);
            if (word.front() == '[') ++level;
        }
        if (seconds.size() < 6) continue;
        arguments += 6;
        for (const std::string& word : seconds)
            if (word.front() == '[') ++operators[word], ++of_operators;
    }
    EXPECT_GT(arguments, 10'000);
    // The standard deviation of a share p of n draws is √(p·(1 − p) / n): five of them.
    const auto deviation = [](double draws) { return std::sqrt(0.25 * 0.75 / draws); };
    EXPECT_NEAR(of_operators / arguments, 0.25, 5 * deviation(arguments));
    EXPECT_EQ(operators.size(), 4u);
    for (const auto& [op, count] : operators)
        EXPECT_NEAR(count / of_operators, 0.25, 5 * deviation(of_operators)) << op;
}

TEST(HostListOps, ASeedGivesTheSameExpressionsAndNoneTwice) {
    const ListOpsRules rules{.max_depth = 5, .max_args = 4, .min_length = 4, .max_length = 20};
    std::set<std::string> distinct;
    const std::vector<ListOpsExample> first = drawn(rules, 1, 500), again = drawn(rules, 1, 500);
    for (std::size_t i = 0; i < first.size(); ++i) {
        EXPECT_EQ(first[i].source, again[i].source);
        distinct.insert(first[i].source);
    }
    EXPECT_EQ(distinct.size(), first.size());
    EXPECT_NE(drawn(rules, 2, 1).front().source, first.front().source);
    // The stream is part of the format: data sets of a seed must not change.
    EXPECT_EQ(first[0].source, "[MED 6 6 ]");
    EXPECT_EQ(first[1].source, "[MAX [SM 3 [MED 2 6 ] ] 6 [MIN 5 3 4 0 ] ]");
    EXPECT_EQ(first[2].source, "[SM 7 8 9 4 ]");
}

TEST(HostListOps, EndsWhenThereAreNoMoreExpressions) {
    ListOps digits({.max_depth = 1, .min_length = 1, .max_length = 5}, 1);
    std::set<std::string> found;
    for (int i = 0; i < 10; ++i) found.insert(digits.next(go_on).value().source);
    EXPECT_EQ(found.size(), 10u);
    EXPECT_FALSE(digits.next(go_on).has_value());
}

TEST(HostListOps, SizesThatNoExpressionHasAreRefused) {
    const auto refusal = [](const ListOpsRules& rules) { return complaint([&] { ListOps(rules, 1); }); };
    EXPECT_EQ(refusal({.min_length = 10, .max_length = 9}), "--min-length 10 is more than --max-length 9");
    EXPECT_EQ(refusal({.max_depth = 2, .max_args = 3, .min_length = 6}),
              "--min-length is 6, but expressions of --max-depth 2 and --max-args 3 have at most 5 tokens");
    EXPECT_EQ(refusal({.max_depth = 2, .max_args = 3, .min_length = 5}), "");
    EXPECT_EQ(refusal({.max_depth = 1000, .max_args = 1000}), "");
}

}  // namespace
}  // namespace vkf::test
