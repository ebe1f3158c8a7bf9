// Parameters that do not decay.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "models/train/trainer.h"
#include "scratch.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

Tensor decay_loss(const Scope& scope) {
    return language_loss(scope, tiny_gpt2("standard"), 2, 12);
}

/// Trainer of that optimiser after one update.
std::unique_ptr<Trainer> updated(double weight_decay, bool decay_all, std::vector<std::string> no_decay) {
    TrainerConfig config;
    config.optimizer.weight_decay = weight_decay;
    config.optimizer.decay_all = decay_all;
    config.optimizer.no_decay = std::move(no_decay);
    auto trainer = std::make_unique<Trainer>(shared_device(), decay_loss, decay_loss, config);
    trainer->step(0, 1e-2, [](Program& program, std::uint64_t) { write_batch(program, tiny_batch()); });
    return trainer;
}

TEST(DeviceDecay, LeavesOutTheNamedParametersOnly) {
    const std::vector<std::string> named{"wpe.weight", "h.1.attn.c_attn.bias"};  // of two dimensions, and of one
    for (const bool all : {false, true}) {
        const auto none = updated(0, all, {}), some = updated(0.5, all, named), every = updated(0.5, all, {});
        for (const Parameter& p : none->parameters().list()) {
            const bool is_named = std::ranges::find(named, p.name) != named.end();
            const std::vector<float> found = some->state().read(p.name);
            EXPECT_EQ(found, (is_named ? none : every)->state().read(p.name)) << p.name;
        }
        EXPECT_NE(none->state().read("wpe.weight"), every->state().read("wpe.weight"));
    }
}

TEST(HostDecay, OfAParameterThatIsNotThereIsRefused) {
    TrainerConfig config;
    config.optimizer.no_decay = {"wpe.weight", "pos_embed"};
    expect_holds(complaint([&] { StepGraphs(decay_loss, config); }),
                 "--no-decay names 'pos_embed', but the model has no such parameter");
}

}  // namespace
}  // namespace vkf::test
