// Training in fp16, whose range gradients leave: the loss is scaled up, and steps that overflow are skipped.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "models/train/trainer.h"
#include "ops/elementwise/arithmetic.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

/// The tiny model's loss over `rows` rows, multiplied by `factor`.
LossGraph loss_of(std::int64_t rows = 2, float factor = 1.0f) {
    return [=](const Scope& scope) {
        const Tensor loss = language_loss(scope, tiny_gpt2("belief"), rows, 12);
        return factor == 1.0f ? loss : scale(loss, factor);
    };
}

/// Feeds the tiny batch in this many parts.
Feed feed_in(std::int64_t parts) {
    return [parts](Program& program, std::uint64_t number) {
        const Batch whole = tiny_batch();
        const std::size_t count = whole.at("tokens").size() / static_cast<std::size_t>(parts),
                          first = number % static_cast<std::uint64_t>(parts) * count;
        const auto part = [&](const std::vector<std::int32_t>& all) {
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
            return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
        };
        write_batch(program, {{"tokens", part(whole.at("tokens"))}, {"targets", part(whole.at("targets"))}});
    };
}

TrainerConfig config_of(Format activations, OptimizerKind kind = OptimizerKind::adamw) {
    TrainerConfig config;
    config.activations = activations;
    config.optimizer.kind = kind;
    return config;
}

using States = std::map<std::string, std::vector<float>>;

/// All states that a step may change, except the scale.
States states_of(const Trainer& trainer) {
    States states;
    for (const std::string& name : trainer.kept_states())
        if (name != "loss_scale") states[name] = trainer.state().read(name);
    return states;
}

struct Overflow {
    OptimizerKind kind;
    std::int64_t micro_batches;
};

class DeviceLossScaling : public ::testing::TestWithParam<Overflow> {};

/// Rounding to fp16 is an eighth of rounding to bfloat16, for which mixed_test allows a hundredth of the loss.
TEST_P(DeviceLossScaling, SkipsStepsThatOverflowAndThenLearnsAsInFp32) {
    const auto [kind, micro_batches] = GetParam();
    const LossGraph loss = loss_of(2 / micro_batches);
    const Feed feed = feed_in(micro_batches);
    TrainerConfig config = config_of(Format::f16, kind);
    config.gradient_accumulation_steps = micro_batches;
    config.loss_scaling.initial = 0x1p40f;
    Trainer half(shared_device(), loss, loss, config);
    config.activations = Format::f32;
    Trainer whole(shared_device(), loss, loss, config);
    for (const std::string& name : half.kept_states())  // moments in which a wrong step would show
        if (name.starts_with("m/") || name.starts_with("v/")) {
            std::vector<float> values(half.state().read(name).size(), 0.0625f);
            half.state().write(name, values);
            whole.state().write(name, values);
        }
    const States before = states_of(half);
    double scale = 0x1p40;
    std::int64_t it = 0;
    for (;; ++it) {
        const StepResult result = half.step(it, 1e-3, feed);
        ASSERT_TRUE(std::isfinite(result.loss));
        if (!result.skipped) break;
        ASSERT_EQ(states_of(half), before) << "step " << it;
        scale /= 2;
        ASSERT_EQ(result.loss_scale, scale) << "step " << it;
        ASSERT_GE(scale, 1);
    }
    EXPECT_GE(it, 10);  // 2^40 times a gradient of 1e-3 is far outside fp16's range
    EXPECT_EQ(half.state().read("loss_scale"), (std::vector{static_cast<float>(scale), 1.0f}));
    EXPECT_NE(states_of(half), before);
    whole.step(it, 1e-3, feed);
    for (std::int64_t more = 1; more < 20; ++more) {
        const StepResult wanted = whole.step(it + more, 1e-3, feed), found = half.step(it + more, 1e-3, feed);
        ASSERT_FALSE(wanted.skipped || wanted.loss_scale);
        ASSERT_NEAR(found.loss, wanted.loss, 0.01 / 8 * wanted.loss) << "step " << it + more;
    }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceLossScaling,
                         ::testing::Values(Overflow{OptimizerKind::adamw, 1}, Overflow{OptimizerKind::adamw, 2},
                                           Overflow{OptimizerKind::setadam, 1}, Overflow{OptimizerKind::sgd, 1}),
                         [](const auto& test) {
                             return std::string(name_of(test.param.kind)) + "_" +
                                    std::to_string(test.param.micro_batches);
                         });

TEST(DeviceLossScaling, DoublesTheScaleAfterGoodSteps) {
    TrainerConfig config = config_of(Format::f16);
    config.loss_scaling = {.initial = 8, .growth_interval = 3};
    Trainer trainer(shared_device(), loss_of(), loss_of(), config);
    for (const double wanted : {8, 8, 16, 16, 16, 32, 32})
        ASSERT_EQ(trainer.step(0, 1e-3, feed_in(1)).loss_scale, wanted);
}

/// Gradient of a weight in the first block, for a small loss whose gradients underflow fp16. The momentum of SGD after
/// one step is the gradient.
TEST(DeviceLossScaling, KeepsGradientsThatFp16WouldLose) {
    const LossGraph loss = loss_of(2, 0x1p-16f);
    const std::string weight = "m/h.0.mlp.c_fc.weight";
    const auto gradient = [&](Format format, float initial) {
        TrainerConfig config = config_of(format, OptimizerKind::sgd);
        config.loss_scaling.initial = initial;
        config.optimizer.weight_decay = 0;
        config.optimizer.grad_clip = 0;
        Trainer trainer(shared_device(), loss, loss, config);
        EXPECT_FALSE(trainer.step(0, 1e-3, feed_in(1)).skipped);
        return trainer.state().read(weight);
    };
    const std::vector<float> wanted = gradient(Format::f32, 1);
    const auto error = [&](const std::vector<float>& found) {
        double difference = 0, sum = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            difference += std::pow(static_cast<double>(found[i]) - static_cast<double>(wanted[i]), 2);
            sum += std::pow(static_cast<double>(wanted[i]), 2);
        }
        return std::sqrt(difference / sum);
    };
    // With a scaled loss there are at most 32 roundings of 2^-11 from the tokens to the loss and back to this weight.
    // Logits' gradients, which GPUs store in fp16, begin with the scale divided by the number of tokens.
    EXPECT_LT(error(gradient(Format::f16, 0x1p20f)), 32 * 0x1p-11);
    EXPECT_GT(error(gradient(Format::f16, 1)), 0.25);
}

}  // namespace
}  // namespace vkf::test
