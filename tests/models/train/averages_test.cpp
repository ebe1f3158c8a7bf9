// Moving averages of weights in a trainer, and steps that are skipped as outliers.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "models/train/trainer.h"
#include "ops/optimizer/outlier.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

Tensor loss_of(const Scope& scope) {
    return language_loss(scope, tiny_gpt2("belief"), 2, 12);
}

const Feed feed = [](Program& program, std::uint64_t) { write_batch(program, tiny_batch()); };

std::map<std::string, std::vector<float>> states_of(const Trainer& trainer) {
    std::map<std::string, std::vector<float>> states;
    for (const std::string& name : trainer.kept_states()) states[name] = trainer.state().read(name);
    return states;
}

TEST(DeviceAverages, AreWhatIsEvaluated) {
    TrainerConfig config;
    Trainer plain(shared_device(), loss_of, loss_of, config);
    config.optimizer.ema_decay = 0.5;
    Trainer averaging(shared_device(), loss_of, loss_of, config);
    EXPECT_EQ(averaging.evaluate(feed, 0, 1), plain.evaluate(feed, 0, 1));
    for (std::int64_t it = 0; it < 3; ++it)
        EXPECT_EQ(averaging.step(it, 1e-2, feed).loss, plain.step(it, 1e-2, feed).loss);
    const double of_weights = plain.evaluate(feed, 0, 1);
    for (const Parameter& p : plain.parameters().list()) {
        EXPECT_EQ(averaging.state().read(p.name), plain.state().read(p.name)) << p.name;
        plain.state().write(p.name, averaging.state().read("ema/" + p.name));
    }
    EXPECT_EQ(averaging.evaluate(feed, 0, 1), plain.evaluate(feed, 0, 1));
    EXPECT_NE(averaging.evaluate(feed, 0, 1), of_weights);
    averaging.begin_averages();
    EXPECT_EQ(averaging.evaluate(feed, 0, 1), of_weights);
}

/// A step is an outlier after norms that are much smaller than its own, and none after norms of the same size.
TEST(DeviceAverages, AndAllElseStayAsTheyAreWhereAStepIsAnOutlier) {
    for (const std::int64_t micro_batches : {1, 2}) {
        TrainerConfig config;
        config.gradient_accumulation_steps = micro_batches;
        config.optimizer.ema_decay = 0.5;
        config.optimizer.skip_outliers = 3;
        Trainer trainer(shared_device(), loss_of, loss_of, config);
        const StepResult first = trainer.step(0, 1e-3, feed);
        EXPECT_FALSE(first.outlier);
        EXPECT_EQ(first.norm_z_score, 0);
        const auto after = [&](float least, float step) {
            std::vector<float> norms{static_cast<float>(outlier_window + 9)};
            for (std::int64_t i = 0; i < outlier_window; ++i) norms.push_back(least + step * static_cast<float>(i % 8));
            trainer.state().write("grad_norms", norms);
            return trainer.step(1, 1e-3, feed);
        };
        auto before = states_of(trainer);
        const StepResult skipped = after(1e-4f, 1e-5f);
        EXPECT_TRUE(skipped.outlier && !skipped.skipped);
        EXPECT_NEAR(skipped.norm_z_score.value(), 11.27, 0.01);  // sqrt(128 - 1) for one norm among norms near 0
        auto found = states_of(trainer);
        EXPECT_EQ(found.at("grad_norms").at(1 + 9), static_cast<float>(skipped.grad_norm));
        found.erase("grad_norms");
        before.erase("grad_norms");
        EXPECT_EQ(found, before);
        const auto norm = static_cast<float>(first.grad_norm);
        EXPECT_FALSE(after(0.5f * norm, 0.25f * norm).outlier);
        EXPECT_NE(trainer.state().read("ema/wte.weight"), before.at("ema/wte.weight"));
    }
}

}  // namespace
}  // namespace vkf::test
