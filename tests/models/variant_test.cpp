// Registry of attention variants, and their options in files.

#include "models/attention/variant.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device_fixture.h"
#include "models/attention/kind.h"
#include "models/families/task.h"
#include "models/files/config_json.h"
#include "models/generation/generate.h"
#include "scratch.h"
#include "tests/models/small_language_models.h"

namespace vkf::test {
namespace {

TEST(HostVariant, NamesAndOptionsAreNobodyElses) {
    std::set<std::string_view> keys{"variant", "kind", "mask_diagonal"};
    const auto expect_own = [&](const auto& all) {
        std::set<std::string_view> names;
        for (const auto* one : all) {
            EXPECT_TRUE(names.insert(one->name).second) << one->name;
            for (const Field& option : one->options.places()) {
                EXPECT_TRUE(keys.insert(option.key).second) << one->name << ", " << option.key;
                EXPECT_TRUE(option.has_option()) << one->name << ", " << option.key;
            }
        }
    };
    expect_own(variants());
    expect_own(attention_kinds());
}

TEST(HostAttentionKind, FilesSayTheKindAndItsOptions) {
    const std::string sizes = R"({"vocab_size": 5, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2)";
    const auto read = [&](const std::string& attention) {
        return parse_config_json(sizes + R"(, "attention": )" + attention + "}", "config.json");
    };
    EXPECT_EQ(read("{}").attention().kind_name(), "full");
    const ModelConfig window = read(R"({"window": 3, "kind": "window", "variant": "attentionx", "gamma": 2})");
    EXPECT_EQ(window.attention().title(), "attentionx window");
    EXPECT_EQ(parse_config_json(config_json_text(window), "written").attention(), window.attention());
    EXPECT_NE(config_json_text(window).find(R"("window": 3)"), std::string::npos);
    // The variant alone is the default: the kind must be written all the same.
    const ModelConfig standard = read(R"({"kind": "window"})");
    EXPECT_EQ(parse_config_json(config_json_text(standard), "written").attention(), standard.attention());
    expect_holds(complaint([&] { read(R"({"kind": "wide"})"); }), "kind is 'wide', wanted full");
    EXPECT_THROW(read(R"({"window": 3})"), InputError);
    EXPECT_THROW(read(R"({"kind": "window", "window": -1})"), InputError);
}

/// Blocks at the end of padding, and random ones, would make a sequence depend on its batch.
TEST(HostAttentionKind, BigBirdRefusesPaddedSequences) {
    const auto hide = [](bool causal, bool padded, std::int64_t blocks) {
        Graph graph;
        AttentionConfig config;
        config.set_kind("bigbird");
        for (const Field& field : config.kind_options.fields())
            if (field.key == "bigbird_global_blocks" || field.key == "bigbird_random_blocks")
                *std::get<IntRange>(field.value).value = blocks;
        AttentionMask mask{.causal = causal};
        if (padded) mask.key_lengths = graph.input("lengths", {DType::i32, {2}});
        config.kind().hide(config.kind_options, 0, mask);
    };
    EXPECT_NO_THROW(hide(false, false, 1));
    EXPECT_NO_THROW(hide(true, true, 1));
    EXPECT_NO_THROW(hide(false, true, 0));
    EXPECT_THROW(hide(false, true, 1), InputError);
}

/// A window that no pair exceeds hides nothing: results are equal bit for bit. A narrower one changes them.
TEST(DeviceAttentionKind, AWideWindowIsFullAttention) {
    const auto logits = [](std::string_view kind, std::int64_t window) {
        Gpt2Config c = small("belief-star", false);
        c.attention.set_kind(kind);
        if (window >= 0) *std::get<IntRange>(c.attention.kind_options.fields().front().value).value = window;
        Generator generator(shared_device(), c);
        fill(generator.parameters(), generator.state());
        return generator.prefill(words(16));
    };
    EXPECT_EQ(logits("window", 15), logits("full", -1));
    EXPECT_NE(logits("window", 14), logits("full", -1));
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
