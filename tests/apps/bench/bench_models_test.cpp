// Models that are timed, of tasks without a row in the tables of figures.

#include "apps/bench/bench_models.h"

#include <gtest/gtest.h>

#include "models/families/bert_classifier.h"

namespace vkf::test {
namespace {

TEST(HostBenchModels, AClassifierIsTimedOnWholeSequences) {
    BertClassifierConfig c;
    c.vocab_size = 30, c.max_position_embeddings = 16, c.hidden_size = 12, c.num_hidden_layers = 1;
    c.num_attention_heads = 3, c.intermediate_size = 20, c.num_labels = 5;
    const BenchEntry entry{"classifier", "classifier", 4, 16, ""};
    const BenchModel model = bench_sequences(entry, c, {.batch = 2});
    EXPECT_EQ(model.shape, "2x16 tokens");
    EXPECT_EQ(model.items, 2);
    EXPECT_FALSE(model.generates());
    Graph graph;
    Parameters parameters;
    EXPECT_EQ(model.loss(Scope(graph, parameters)).shape(), Shape{});
    EXPECT_EQ(model.parameters().count(), parameters.count());
}

}  // namespace
}  // namespace vkf::test
