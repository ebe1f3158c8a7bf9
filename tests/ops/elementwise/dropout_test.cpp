#include <cmath>

#include "base/error.h"
#include "graph/reference.h"
#include "op_check.h"
#include "ops/elementwise/dropout.h"

namespace vkf::test {
namespace {

std::vector<double> mask(std::int64_t count, float p, std::uint32_t salt, double word) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {count}});
    const Tensor seed = graph.input("seed", {DType::i32, {2}});
    graph.output("y", dropout(x, p, seed, salt));
    const Arrays leaves{{"x", {{count}, std::vector<double>(static_cast<std::size_t>(count), 1.0)}},
                        {"seed", {{2}, {word, -word}}}};
    return interpret(graph, leaves).at("y").at;
}

TEST(HostDropout, KeepsTheRightShareAtTheRightScale) {
    const std::int64_t count = 100000;
    for (const float p : {0.1f, 0.5f, 0.9f}) {
        const double keep = 1.0 - static_cast<double>(p);
        std::int64_t kept = 0;
        for (const double y : mask(count, p, 5, 17)) {
            EXPECT_TRUE(y == 0.0 || y == 1.0 / keep);
            kept += y != 0.0;
        }
        // Five standard deviations of a binomial count.
        EXPECT_NEAR(static_cast<double>(kept), count * keep, 5.0 * std::sqrt(count * keep * (1.0 - keep)));
    }
}

TEST(HostDropout, MasksOfOtherSeedsAndSaltsAreOthers) {
    const std::vector<double> one = mask(64, 0.5f, 1, 3);
    EXPECT_EQ(one, mask(64, 0.5f, 1, 3));
    EXPECT_NE(one, mask(64, 0.5f, 2, 3));
    EXPECT_NE(one, mask(64, 0.5f, 1, 4));
}

TEST(HostDropout, RefusesImpossibleRatesAndSeeds) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4}});
    const Tensor seed = graph.input("seed", {DType::i32, {2}});
    EXPECT_THROW(dropout(x, 1.0f, seed, 0), InputError);
    EXPECT_THROW(dropout(x, -0.1f, seed, 0), InputError);
    EXPECT_THROW(dropout(x, std::nanf(""), seed, 0), InputError);
    EXPECT_THROW(dropout(x, 0.5f, x, 0), InputError);
}

}  // namespace
}  // namespace vkf::test
