// Low-rank adapters: their results, and that training changes no other weights.
#include "models/adapters/lora.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "models/adapters/adapters.h"
#include "models/families/llama.h"
#include "models/families/nano_gpt2.h"
#include "models/language_model.h"
#include "models/train/trainer.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

ModelConfig adapted_gpt2(std::string_view variant = "belief-star") {
    return with_adapters(tiny_gpt2(variant), {.rank = 3, .alpha = 6.0f, .targets = {"c_attn", "c_proj", "c_proj_s"}});
}

/// Computes a model's logits for a few tokens in double; holds its parameters.
struct Logits {
    Graph graph;
    Parameters parameters;

    explicit Logits(const ModelConfig& config) {
        const Tensor tokens = graph.input("tokens", {DType::i32, {1, 5}});
        graph.output("logits", language_logits(Scope(graph, parameters), config, tokens));
    }
    std::vector<double> of(Arrays leaves) const {
        leaves["tokens"] = {{1, 5}, {3, 1, 4, 1, 5}};
        return interpret(graph, leaves).at("logits").at;
    }
};

Arrays initial(const Parameters& parameters) {
    Arrays made;
    for (const Parameter& p : parameters.list()) {
        const std::vector<float> x = initial_values(p, 11);
        made[p.name] = {p.shape, {x.begin(), x.end()}};
    }
    return made;
}

std::vector<std::string> targets_of(const ModelConfig& config) {
    return config.adapters()->targets;
}

TEST(HostLora, BeginsAsTheModelItself) {
    const Logits adapted(adapted_gpt2()), plain(tiny_gpt2("belief-star"));
    const Arrays leaves = initial(adapted.parameters);
    EXPECT_EQ(adapted.of(leaves), plain.of(leaves));
    for (const auto& [name, values] : leaves) {
        if (name.find(".lora_") == std::string::npos) continue;
        const auto zeros = std::ranges::count(values.at, 0.0);
        EXPECT_EQ(zeros, name.ends_with("lora_B.weight") ? std::ssize(values.at) : 0) << name;
    }
}

TEST(HostLora, FreezesAllButTheAdapters) {
    const Logits adapted(adapted_gpt2());
    for (const Parameter& p : adapted.parameters.list())
        EXPECT_EQ(p.frozen, p.name.find(".lora_") == std::string::npos) << p.name;
    EXPECT_EQ(adapted.parameters.frozen().size(), Logits(tiny_gpt2("belief-star")).parameters.list().size());
    // Four maps in each of two layers: c_attn, c_proj, c_proj_s, and the MLP's c_proj.
    EXPECT_EQ(adapted.parameters.trained().size(), 2 * 2 * 4u);
}

TEST(HostLora, StandsBesideTheMapsThatPeftWouldChoose) {
    EXPECT_EQ(targets_of(with_adapters(tiny_gpt2("standard"), {})), std::vector<std::string>{"c_attn"});
    EXPECT_EQ(targets_of(with_adapters(NanoGpt2Config(), {})), std::vector<std::string>{"c_attn"});
    EXPECT_EQ(targets_of(with_adapters(LlamaConfig(), {})), (std::vector<std::string>{"q_proj", "v_proj"}));
    const LoraConfig all{.targets = {"all-linear"}};
    EXPECT_EQ(targets_of(with_adapters(tiny_gpt2("concat"), all)),
              (std::vector<std::string>{"c_attn", "c_fc", "c_proj", "c_proj_s"}));
}

TEST(HostLora, TargetsAreLastPartsOfPaths) {
    const auto maps = [](const std::string& target) {
        std::set<std::string> found;
        for (const Parameter& p : parameters_of(with_adapters(tiny_gpt2("concat"), {.targets = {target}})).trained())
            found.insert(p.name.substr(0, p.name.find(".lora_")));
        return found;
    };
    using Set = std::set<std::string>;
    EXPECT_EQ(maps("c_proj"), (Set{"h.0.attn.c_proj", "h.0.mlp.c_proj", "h.1.attn.c_proj", "h.1.mlp.c_proj"}));
    EXPECT_EQ(maps("mlp.c_proj"), (Set{"h.0.mlp.c_proj", "h.1.mlp.c_proj"}));
    EXPECT_EQ(maps("h.1.attn.c_attn"), (Set{"h.1.attn.c_attn"}));
    for (const char* other : {"proj", "wte", "lm_head", "ln_1", "attn", "h.2.mlp.c_proj"})
        EXPECT_THROW(maps(other), InputError) << other;
}

TEST(HostLora, ScalesAsSaid) {
    EXPECT_FLOAT_EQ((LoraConfig{.rank = 8, .alpha = 4}).scale(), 0.5f);
    EXPECT_FLOAT_EQ((LoraConfig{.rank = 16, .alpha = 8, .rank_stabilized = true}).scale(), 2.0f);
}

using Values = std::map<std::string, std::vector<float>>;

Values read_all(const Trainer& trainer) {
    Values values;
    for (const Parameter& p : trainer.parameters().list()) values[p.name] = trainer.state().read(p.name);
    return values;
}

LossGraph loss_of(const ModelConfig& config) {
    return [config](const Scope& scope) { return language_loss(scope, config, 2, 12); };
}

/// Trains on one batch; returns the first and the last loss.
std::pair<double, double> learn(Trainer& trainer, const Batch& batch, std::int64_t steps, double rate) {
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    const double first = trainer.step(0, rate, feed).loss;
    double last = first;
    for (std::int64_t it = 1; it < steps; ++it) last = trainer.step(it, rate, feed).loss;
    return {first, last};
}

TEST(DeviceLora, LearnsAnotherTaskAndLeavesTheModelAlone) {
    const Batch own = tiny_batch();
    Batch other = own;
    std::ranges::reverse(other.at("targets"));
    Trainer base(shared_device(), loss_of(tiny_gpt2("belief-star")), loss_of(tiny_gpt2("belief-star")), {});
    EXPECT_LT(learn(base, own, 80, 1e-2).second, 0.1);
    const Values weights = read_all(base);
    for (const double ema : {0.0, 0.5}) {
        TrainerConfig options;
        options.optimizer.ema_decay = ema;
        options.recompute = ema > 0;
        options.frozen = ema > 0 ? Format::bf16 : Format::f32;
        Trainer trainer(shared_device(), loss_of(adapted_gpt2()), loss_of(adapted_gpt2()), options);
        for (const auto& [name, values] : weights) trainer.state().write(name, values);
        trainer.begin_averages();
        const Values before = read_all(trainer);
        const auto [first, last] = learn(trainer, other, 80, 1e-2);
        EXPECT_GT(first, 2.0);  // the model knew only the first task
        EXPECT_LT(last, 0.3 * first);
        const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, other); };
        EXPECT_LT(trainer.evaluate(feed, 0, 1), 0.4 * first);
        for (const Parameter& p : trainer.parameters().list())
            EXPECT_EQ(trainer.state().read(p.name) == before.at(p.name), p.frozen) << p.name;
    }
}

TEST(DeviceLora, KeepsFrozenWeightsIn16Bits) {
    TrainerConfig options;
    options.frozen = Format::bf16;
    const Trainer trainer(shared_device(), loss_of(adapted_gpt2()), loss_of(adapted_gpt2()), options);
    for (const Parameter& p : trainer.parameters().list()) {
        const bool narrow = p.frozen && p.shape.rank() == 2 && p.name.starts_with("h.");
        EXPECT_EQ(trainer.state().format(p.name), narrow ? Format::bf16 : Format::f32) << p.name;
    }
}

}  // namespace
}  // namespace vkf::test
