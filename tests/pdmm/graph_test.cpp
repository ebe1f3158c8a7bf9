#include "pdmm/graph.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace vkf::pdmm::test {
namespace {

TEST(HostPdmmGraph, HasTheEdgesOfItsKind) {
    EXPECT_EQ(chain(1).edges().size(), 0u);
    EXPECT_EQ(chain(7).edges().size(), 6u);
    EXPECT_EQ(ring(7).edges().size(), 7u);
    EXPECT_EQ(grid(3, 4).edges().size(), 17u);
    EXPECT_EQ(grid(3, 4).neighbors(5).size(), 4u);  // in the second row and column
    EXPECT_EQ(grid(3, 4).neighbors(11).size(), 2u);
    EXPECT_EQ(random_graph(6, 1, 1).edges().size(), 15u);
    for (const std::vector<Graph::Neighbor>& ends : {ring(5).neighbors(0), ring(5).neighbors(4)})
        EXPECT_EQ(ends.size(), 2u);
}

TEST(HostPdmmGraph, EndsOfAnEdgeKnowEachOther) {
    const Graph graph = random_graph(20, 0.3, 3);
    for (std::size_t i = 0; i < graph.nodes(); ++i)
        for (std::size_t n = 0; n < graph.neighbors(i).size(); ++n) {
            const Graph::Neighbor& j = graph.neighbors(i)[n];
            const Graph::Neighbor& back = graph.neighbors(j.node)[j.back];
            EXPECT_EQ(back.node, i);
            EXPECT_EQ(back.edge, j.edge);
            EXPECT_EQ(back.back, n);
        }
}

TEST(HostPdmmGraph, RandomGraphsAreConnectedAndDependOnTheSeed) {
    const Graph first = random_graph(30, 0.15, 1), again = random_graph(30, 0.15, 1), other = random_graph(30, 0.15, 2);
    EXPECT_TRUE(first.connected());
    const auto numbers = [](const Graph& graph) {
        std::vector<std::size_t> made;
        for (const Graph::Edge& edge : graph.edges()) made.push_back(edge.i * graph.nodes() + edge.j);
        return made;
    };
    EXPECT_EQ(numbers(first), numbers(again));
    EXPECT_NE(numbers(first), numbers(other));
    EXPECT_FALSE(Graph(4, {{0, 1}, {2, 3}}).connected());
}

TEST(HostPdmmGraph, RefusesWhatIsNoGraph) {
    EXPECT_THROW(Graph(3, {{1, 1}}), InputError);
    EXPECT_THROW(Graph(3, {{0, 1}, {1, 0}}), InputError);
    EXPECT_THROW(Graph(3, {{0, 3}}), InputError);
    EXPECT_THROW(ring(2), InputError);
    EXPECT_THROW(random_graph(50, 0.001, 1), InputError);
}

}  // namespace
}  // namespace vkf::pdmm::test
