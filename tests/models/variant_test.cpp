// Registry of attention variants, and their options in files.

#include "models/attention/variant.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device_fixture.h"
#include "models/families/task.h"
#include "models/files/config_json.h"
#include "scratch.h"

namespace vkf::test {
namespace {

TEST(HostVariant, NamesAndOptionsAreNobodyElses) {
    std::set<std::string_view> names, keys{"variant", "mask_diagonal"};
    for (const AttentionVariant* variant : variants()) {
        EXPECT_TRUE(names.insert(variant->name).second) << variant->name;
        for (const Field& option : variant->options.places()) {
            EXPECT_TRUE(keys.insert(option.key).second) << variant->name << ", " << option.key;
            EXPECT_TRUE(option.has_option()) << variant->name << ", " << option.key;
        }
    }
}

/// Earlier versions wrote attentionx's options for every variant.
TEST(HostVariant, OptionsOfOthersAreReadWhereTheyAskForNothing) {
    const Scratch scratch;
    const auto read = [&](const std::string& attention) {
        const std::string sizes = R"("vocab_size":5,"n_positions":8,"n_embd":8,"n_layer":1,"n_head":2)";
        return read_config_json(scratch.file("config.json", "{" + sizes + R"(,"attention":)" + attention + "}"));
    };
    EXPECT_EQ(read(R"({"gamma":1,"gamma_on":"sum","variant":"belief"})").attention(), AttentionConfig("belief"));
    EXPECT_NE(complaint([&] { read(R"({"variant":"belief","gamma_on":"value"})"); }).find("wanted attentionx with it"),
              std::string::npos);
    EXPECT_THROW(read(R"({"variant":"belief","gamma":"1"})"), InputError);
    EXPECT_THROW(read(R"({"variant":"belief","delta":1})"), InputError);
}

/// Options of a new model are those given, else the paper's for the task.
TEST(HostVariant, PapersChooseWhatNobodyGave) {
    const auto chosen = [](const Task& task, const Given& given) {
        AttentionConfig config("attentionx");
        config.variant().choose(config, task, given);
        return std::pair(shown(config.options.fields().front()), config.mask_diagonal);
    };
    const auto nothing = [](std::string_view) { return false; };
    EXPECT_EQ(chosen(language_task(), nothing), std::pair(std::string("3"), false));
    EXPECT_EQ(chosen(image_task(), nothing), std::pair(std::string("1"), true));
    const auto gamma = [](std::string_view key) { return key == "gamma"; };
    EXPECT_EQ(chosen(language_task(), gamma), std::pair(std::string("1"), false));
    // Gamma follows the mask, also one that is given: tokens of these images attend to themselves.
    const auto mask = [](std::string_view key) { return key == "mask_diagonal"; };
    EXPECT_EQ(chosen(image_task(), mask), std::pair(std::string("3"), false));
}

/// Queries of three positions and keys of five belong to different sequences: no value stands at a query's position.
TEST(HostVariant, ThoseThatCompareWithOwnValuesRefuseCrossAttention) {
    std::set<std::string_view> taken;
    for (const AttentionVariant* variant : variants()) {
        Graph graph;
        Parameters parameters;
        const AttentionConfig config(variant->name);
        const Tensor q = graph.input("q", {DType::f32, {2, 3, 8}}), k = graph.input("k", {DType::f32, {2, 5, 8}}),
                     v = graph.input("v", {DType::f32, {2, 5, 8}});
        const auto mix = [&] {
            variant->mix({Scope(graph, parameters), q, k, v, Tensor(), {.heads = 2}, config});
            taken.insert(variant->name);
        };
        const bool plain = variant->name == "standard" || variant->name == "differential";
        if (plain)
            EXPECT_NO_THROW(mix()) << variant->name;
        else
            EXPECT_NE(complaint(mix).find(text('\'', variant->name, "' needs values at the queries' own positions")),
                      std::string::npos);
    }
    EXPECT_EQ(taken, (std::set<std::string_view>{"standard", "differential"}));
}

}  // namespace
}  // namespace vkf::test
