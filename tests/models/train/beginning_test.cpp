// Initial states of a Trainer, before its first step.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "device_fixture.h"
#include "models/families/gpt2.h"
#include "models/families/vit.h"
#include "models/train/trainer.h"

namespace vkf::test {
namespace {

struct Moments {
    double mean = 0, deviation = 0;
};

Moments moments(const std::vector<float>& values) {
    double sum = 0, squares = 0;
    for (const float x : values) sum += static_cast<double>(x), squares += std::pow(static_cast<double>(x), 2);
    const double count = static_cast<double>(values.size()), mean = sum / count;
    return {mean, std::sqrt(squares / count - mean * mean)};
}

/// Checks that values are drawn from N(0, deviation²), with estimates of mean and deviation within five deviations.
void expect_normal(const std::vector<float>& values, double deviation, const std::string& name) {
    const auto [mean, found] = moments(values);
    const double count = static_cast<double>(values.size());
    EXPECT_NEAR(mean, 0, 5 * deviation / std::sqrt(count)) << name;
    EXPECT_NEAR(found, deviation, 5 * deviation / std::sqrt(2 * count)) << name;
}

/// True if the tensor is a map back into the residual stream, or a second such map.
bool is_residual(std::string_view name) {
    return name.ends_with(".c_proj.weight") || name.ends_with(".c_proj_s.weight");
}

TEST(DeviceBeginning, Gpt2IsNanoGptsNormalWithResidualMapsScaledByDepth) {
    Gpt2Config model;
    model.vocab_size = 65;
    model.n_positions = 32;
    model.n_embd = 64;
    model.n_layer = 8;
    model.n_head = 2;
    model.bias = true;
    model.tie_word_embeddings = false;
    model.attention.set_variant("belief-star");
    const auto loss = [&](const Scope& scope) { return language_loss(scope, model, 1, 8); };
    const Trainer trainer(shared_device(), loss, loss, {});
    int residual = 0, other = 0;
    for (const Parameter& p : trainer.parameters().list()) {
        const std::vector<float> values = trainer.state().read(p.name);
        if (p.shape.rank() >= 2) {
            ++(is_residual(p.name) ? residual : other);
            expect_normal(values, is_residual(p.name) ? 0.02 / std::sqrt(2.0 * 8) : 0.02, p.name);
        } else {  // norms' weights are 1, biases 0
            EXPECT_EQ(values, std::vector<float>(values.size(), p.name.ends_with(".weight") ? 1.0f : 0.0f)) << p.name;
        }
    }
    EXPECT_EQ(residual, 3 * 8);
    EXPECT_EQ(other, 2 * 8 + 3);
    for (const std::string& name : trainer.kept_states())
        if (name.starts_with("m/") || name.starts_with("v/")) {
            const std::vector<float> values = trainer.state().read(name);
            EXPECT_EQ(values, std::vector<float>(values.size())) << name;
        }
}

TEST(DeviceBeginning, EveryParameterAndSeedDrawsItsOwn) {
    Gpt2Config model;
    model.vocab_size = 7, model.n_positions = 8, model.n_embd = 8, model.n_layer = 2, model.n_head = 1;
    const auto loss = [&](const Scope& scope) { return language_loss(scope, model, 1, 8); };
    const auto begun = [&](std::uint64_t seed, const char* name) {
        return Trainer(shared_device(), loss, loss, {.seed = seed}).state().read(name);
    };
    EXPECT_EQ(begun(1, "h.0.attn.c_attn.weight"), begun(1, "h.0.attn.c_attn.weight"));
    EXPECT_NE(begun(1, "h.0.attn.c_attn.weight"), begun(1, "h.1.attn.c_attn.weight"));
    EXPECT_NE(begun(1, "h.0.attn.c_attn.weight"), begun(2, "h.0.attn.c_attn.weight"));
}

/// Initial temperature of a ViT with this kind of locality.
std::vector<float> temperature(Locality locality) {
    VitConfig model;
    model.image_size = 8, model.patch_size = 4, model.hidden_size = 12, model.num_hidden_layers = 2;
    model.num_attention_heads = 3, model.intermediate_size = 8, model.num_labels = 3, model.head_dim = 16;
    model.locality = locality;
    const auto loss = [&](const Scope& scope) { return image_loss(scope, model, 1); };
    return Trainer(shared_device(), loss, loss, {}).state().read("blocks.1.attn.temperature");
}

TEST(DeviceBeginning, LearnedScalesOfAttentionBeginAtTheFixedOne) {
    // per layer: the logarithm of 1/√16; per head: 1/√16
    EXPECT_EQ(temperature(Locality::per_layer), std::vector{std::log(0.25f)});
    EXPECT_EQ(temperature(Locality::per_head), std::vector(3, 0.25f));
}

}  // namespace
}  // namespace vkf::test
