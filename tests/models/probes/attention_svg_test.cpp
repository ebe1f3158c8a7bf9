#include "models/probes/attention_svg.h"

#include <gtest/gtest.h>

#include <string>

#include "scratch.h"

namespace vkf::test {
namespace {

TEST(HostAttentionSvg, HasACellForEveryWeightAndBothSentences) {
    const AttentionTables tables{
        .columns = {"a<b", "größe"},
        .rows = {"x", "y", "</s>"},
        .tables = {{"layer 1", {1, 0, 0.25f, 0.75f, 0, 1}}, {"layer 2", {0, 1, 1, 0.0004f, 0.5f, 0.5f}}}};
    const std::string svg = attention_svg(tables);
    const auto count = [&](const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = svg.find(part, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    EXPECT_EQ(count("<title>"), 8u);         // weights that are not zero
    EXPECT_EQ(count(">a&lt;b</text>"), 2u);  // at each layer
    EXPECT_EQ(count(">größe</text>"), 2u);
    EXPECT_EQ(count(">&lt;/s&gt;</text>"), 1u);
    EXPECT_EQ(count(">layer 2</text>"), 1u);
    EXPECT_EQ(count("fill-opacity=\"0.75\"><title>y reads größe: 0.75</title>"), 1u);
    EXPECT_NE(complaint([] { attention_svg({.columns = {"a"}, .rows = {"b"}, .tables = {{"", {1, 0}}}}); }), "");

    AttentionTables stacked = tables;
    stacked.in_a_line = 1;
    const std::string below = attention_svg(stacked);
    EXPECT_NE(below.find(">x</text>"), below.rfind(">x</text>"));  // rows have their names at every line
}

}  // namespace
}  // namespace vkf::test
