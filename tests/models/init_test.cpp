// Initial values: mean, deviation and bounds of every parameter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "models/families/gpt2.h"
#include "models/families/vit.h"
#include "models/recurrent/recurrent_layer.h"

namespace vkf {
namespace {

enum class Kind { normal, uniform, constant };

/// Distribution of a parameter's values: N(0, value²), U(−value, value), or constant.
struct Law {
    Kind kind;
    double value;
};

/// Checks every estimate from n draws within five deviations: a correct one exceeds that once in two million seeds.
void expect_law(const std::string& name, const std::vector<float>& values, const Law& law) {
    SCOPED_TRACE(name);
    const auto n = static_cast<double>(values.size());
    double sum = 0, squares = 0, largest = 0;
    for (const float x : values) {
        sum += static_cast<double>(x);
        squares += static_cast<double>(x) * static_cast<double>(x);
        largest = std::max(largest, std::abs(static_cast<double>(x)));
    }
    if (law.kind == Kind::constant) {
        for (const float x : values) ASSERT_EQ(x, static_cast<float>(law.value));
        return;
    }
    const bool normal = law.kind == Kind::normal;
    const double deviation = normal ? law.value : law.value / std::sqrt(3.0);
    EXPECT_NEAR(sum / n, 0, 5 * deviation / std::sqrt(n));
    // The variance of x² is 2σ⁴ for the normal and 4/5 σ⁴ for the uniform distribution.
    const double variance = deviation * deviation;
    EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt((normal ? 2.0 : 0.8) / n));
    if (normal) {
        // At least one of 1000 draws is beyond 2.5 deviations with a probability of 1 − e^−12; this finds a cut at 2.
        EXPECT_GT(largest, n >= 1000 ? 2.5 * deviation : 0);
    } else {
        EXPECT_LE(largest, law.value * (1 + 1e-6));
        EXPECT_GT(largest, law.value * (1 - 15 / n));  // fails with a probability of e^−15
    }
}

/// Checks every parameter against the first law whose pattern matches its name; every parameter must match and every
/// law must be used.
void expect_laws(const Parameters& parameters, const std::vector<std::pair<const char*, Law>>& laws) {
    std::map<std::string, int> used;
    for (const Parameter& parameter : parameters.list()) {
        const auto law = std::ranges::find_if(
            laws, [&](const auto& each) { return std::regex_search(parameter.name, std::regex(each.first)); });
        ASSERT_NE(law, laws.end()) << parameter.name;
        ++used[law->first];
        expect_law(parameter.name, initial_values(parameter, 7), law->second);
    }
    EXPECT_EQ(used.size(), laws.size()) << "a pattern matches nothing";
}

constexpr double WIDTH = 48, INNER = 60, MLP = 80, PATCH = 3 * 4 * 4, LABELS = 30;

TEST(HostInit, AnLstmBeginsWithAnOpenForgetGate) {
    Graph graph;
    Parameters parameters;
    recurrent_layer(Scope(graph, parameters), "l0", Cell::lstm, 30, 20);
    const auto named = [&](std::string_view name) {
        return initial_values(*std::ranges::find(parameters.list(), name, &Parameter::name), 1);
    };
    const std::vector<float> biases = named("bias_ih_l0");
    for (std::size_t i = 0; i < biases.size(); ++i) EXPECT_EQ(biases[i], i / 20 == 1 ? 1 : 0);  // gates i, f, g, o
    EXPECT_EQ(named("bias_hh_l0"), std::vector<float>(80));
    for (const char* name : {"weight_ih_l0", "weight_hh_l0"})
        expect_law(name, named(name), {Kind::uniform, 1 / std::sqrt(20.0)});
}

Parameters vit_parameters(VitInit init, PatchShift shift = PatchShift::none, Locality locality = Locality::none,
                          std::int64_t depthwise_kernel_size = 0) {
    const VitConfig c{.image_size = 32,
                      .patch_size = 4,
                      .hidden_size = static_cast<std::int64_t>(WIDTH),
                      .num_hidden_layers = 2,
                      .num_attention_heads = 3,
                      .intermediate_size = static_cast<std::int64_t>(MLP),
                      .qkv_bias = true,
                      .num_labels = static_cast<std::int64_t>(LABELS),
                      .head_dim = static_cast<std::int64_t>(INNER / 3),
                      .patch_shift = shift,
                      .locality = locality,
                      .depthwise_kernel_size = depthwise_kernel_size,
                      .attention = AttentionConfig("belief-star"),
                      .init = init};
    Graph graph;
    Parameters parameters;
    image_logits(Scope(graph, parameters), c, graph.input("images", {DType::f32, {1, 3, 32, 32}}));
    return parameters;
}

constexpr Law zero{Kind::constant, 0}, one{Kind::constant, 1}, unit{Kind::normal, 1};

// timm/models/vision_transformer.py with weight_init = '': trunc_normal_(std = 0.02), cut at ±2 and not at two
// deviations, for linear layers and positions; PyTorch's default for the convolution of the patches.
TEST(HostInit, TimmsVisionTransformer) {
    const Law weight{Kind::normal, 0.02};
    for (const PatchShift shift : {PatchShift::none, PatchShift::cardinal}) {
        const bool shifted = shift != PatchShift::none;
        const Law patch{Kind::uniform, 1 / std::sqrt(PATCH * (shifted ? 5 : 1))};
        std::vector<std::pair<const char*, Law>> laws{
            {"^cls_token", {Kind::normal, 1e-6}}, {"^pos_embed", weight}, {"^patch_embed.proj", patch},
            {"norm\\d?\\.weight", one},           {"bias", zero},         {"weight", weight}};
        expect_laws(vit_parameters(VitInit::timm, shift), laws);
    }
}

TEST(HostInit, PyTorchsDefaultsForLinearLayers) {
    const auto within = [](double in) { return Law{Kind::uniform, 1 / std::sqrt(in)}; };
    expect_laws(vit_parameters(VitInit::uniform, PatchShift::none, Locality::per_layer),
                {{"^cls_token", unit},
                 {"^pos_embed", unit},
                 {"temperature", {Kind::constant, -0.5 * std::log(INNER / 3)}},
                 {"norm\\d?\\.weight", one},
                 {"norm\\d?\\.bias", zero},
                 {"^patch_embed.proj", within(PATCH)},
                 {"(qkv|fc1|head)", within(WIDTH)},
                 {"attn.proj", within(INNER)},
                 {"fc2", within(MLP)}});
}

TEST(HostInit, Xavier) {
    const auto between = [](double in, double out) { return Law{Kind::normal, std::sqrt(2 / (in + out))}; };
    expect_laws(vit_parameters(VitInit::xavier, PatchShift::none, Locality::per_head),
                {{"^cls_token", unit},
                 {"^pos_embed", unit},
                 {"temperature", {Kind::constant, 1 / std::sqrt(INNER / 3)}},
                 {"norm\\d?\\.weight", one},
                 {"bias", zero},
                 {"^patch_embed.proj", between(PATCH, WIDTH)},
                 {"qkv", between(WIDTH, 3 * INNER)},
                 {"attn.proj", between(INNER, WIDTH)},
                 {"fc1", between(WIDTH, MLP)},
                 {"fc2", between(MLP, WIDTH)},
                 {"^head", between(WIDTH, LABELS)}});
}

// _init_weights of BeliefFormer's LocalViT: xavier_normal_ for linear layers, class token and positions, PyTorch's
// defaults for convolutions and all biases. PyTorch counts the inputs of a tensor [1, n, C] as n·C.
TEST(HostInit, LocalVit) {
    const auto between = [](double in, double out) { return Law{Kind::normal, std::sqrt(2 / (in + out))}; };
    const auto within = [](double in) { return Law{Kind::uniform, 1 / std::sqrt(in)}; };
    expect_laws(vit_parameters(VitInit::localvit, PatchShift::none, Locality::none, 3),
                {{"^cls_token", between(WIDTH, WIDTH)},
                 {"^pos_embed", between(65 * WIDTH, WIDTH)},
                 {"norm\\d?\\.weight", one},
                 {"norm\\d?\\.bias", zero},
                 {"^patch_embed.proj", within(PATCH)},
                 {"qkv\\.weight", between(WIDTH, INNER)},
                 {"(qkv|head)\\.bias", within(WIDTH)},
                 {"attn.proj(_s)?\\.weight", between(INNER, WIDTH)},
                 {"attn.proj\\.bias", within(INNER)},
                 {"dwconv", within(9)},
                 {"fc1\\.weight", between(WIDTH, MLP)},
                 {"fc2\\.weight", between(MLP, WIDTH)},
                 {"^head\\.weight", between(WIDTH, LABELS)}});
}

// nanoGPT: maps whose results are added to the residual stream, two per layer, begin smaller.
TEST(HostInit, Gpt2) {
    for (const bool tied : {true, false}) {
        Gpt2Config c;
        c.vocab_size = 50;
        c.n_positions = 40;
        c.n_embd = 48;
        c.n_layer = 3;
        c.n_head = 3;
        c.bias = true;
        c.tie_word_embeddings = tied;
        c.attention.set_variant("belief-star");
        Graph graph;
        Parameters parameters;
        language_logits(Scope(graph, parameters), c, graph.input("tokens", {DType::i32, {1, 8}}));
        expect_laws(parameters, {{"ln_\\w+\\.weight", one},
                                 {"bias", zero},
                                 {"c_proj(_s)?\\.weight", {Kind::normal, 0.02 / std::sqrt(6.0)}},
                                 {"weight", {Kind::normal, 0.02}}});
    }
}

}  // namespace
}  // namespace vkf
