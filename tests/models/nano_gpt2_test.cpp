// nano-GPT2: its published sizes. golden_test.cpp checks its results.
#include "models/families/nano_gpt2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "scratch.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

Parameters parameters_of(const NanoGpt2Config& config) {
    Graph graph;
    Parameters parameters;
    language_logits(Scope(graph, parameters), config, graph.input("tokens", {DType::i32, {1, 1}}));
    return parameters;
}

TEST(HostNanoGpt2, HasAsManyParametersAsPublished) {
    NanoGpt2Config config;
    EXPECT_EQ(parameters_of(config).count(), 123'532'032);
    config.attention = attention_of("belief-star");
    EXPECT_EQ(parameters_of(config).count(), 130'609'920);
}

TEST(HostNanoGpt2, BeginsAsPyTorchsLinear) {
    const Parameters parameters =
        parameters_of({.vocab_size = 17, .n_positions = 8, .n_embd = 32, .n_layer = 1, .n_head = 2});
    for (const Parameter& p : parameters.list()) {
        EXPECT_EQ(p.init.kind, Init::Kind::uniform) << p.name;
        EXPECT_EQ(p.init.value, 1 / std::sqrt(static_cast<float>(p.shape.width()))) << p.name;
    }
}

TEST(HostNanoGpt2, RefusesHeadsThatCannotBeTurned) {
    NanoGpt2Config config{.n_embd = 36, .n_head = 4};
    EXPECT_NE(complaint([&] { validate(config); }).find("n_embd / n_head is 9, wanted a multiple of 2"),
              std::string::npos);
    config.n_head = 5;
    EXPECT_NE(complaint([&] { validate(config); }).find("n_embd 36 is not divisible by n_head 5"), std::string::npos);
    config = {.n_embd = 40, .n_head = 4, .attention = attention_of("differential")};
    EXPECT_NE(complaint([&] { validate(config); }).find("is 10, wanted a multiple of 4"), std::string::npos);
}

}  // namespace
}  // namespace vkf::test
