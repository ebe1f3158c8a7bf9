// Hooks between gradients and update.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "models/language_model.h"
#include "models/train/trainer.h"
#include "ops/elementwise/arithmetic.h"
#include "tests/models/tiny_gpt2.h"
#include "vulkan/shuffled.h"
#include "vulkan/submissions.h"

namespace vkf::test {
namespace {

/// The tiny model's loss over `rows` rows, multiplied by `factor`.
LossGraph loss_of(std::int64_t rows, float factor = 1.0f) {
    return [=](const Scope& scope) {
        const Tensor loss = language_loss(scope, tiny_gpt2("belief"), rows, 12);
        return factor == 1.0f ? loss : scale(loss, factor);
    };
}

/// Feeds batch `number`, of `rows` rows.
Feed feed_of(std::size_t rows) {
    return [rows](Program& program, std::uint64_t number) {
        Batch batch;
        for (std::size_t i = 12 * rows * number; i < 12 * rows * (number + 1); ++i) {
            batch["tokens"].push_back(static_cast<std::int32_t>(i * i % 17));
            batch["targets"].push_back(static_cast<std::int32_t>((i + 1) * (i + 1) % 17));
        }
        write_batch(program, batch);
    };
}

/// Feeds every second batch, from `first` on.
Feed every_second(std::uint64_t first) {
    return [first, feed = feed_of(1)](Program& program, std::uint64_t number) { feed(program, 2 * number + first); };
}

using States = std::map<std::string, std::vector<float>>;

States states_of(const Trainer& trainer) {
    States states;
    for (const std::string& name : trainer.kept_states()) states[name] = trainer.state().read(name);
    return states;
}

std::vector<float> values(const HookedTensor& memory) {
    std::vector<float> found(memory.elements());
    memory.read(found);
    return found;
}

/// Two trainers that both use the mean of their gradients: `first` waits at its hook for `second`.
class Averaged {
public:
    Averaged(Trainer& first, Trainer& second) : first_(first), second_(second) {
        first_.set_gradient_hook([this](const GradientBucket&, HookedTensor& memory) {
            mine_ = &memory;
            theirs_ = second_.step(it_, rate_, every_second(1));
        });
        second_.set_gradient_hook([this](const GradientBucket&, HookedTensor& memory) {
            std::vector<float> mean = values(*mine_), other = values(memory);
            for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = 0.5f * mean[i] + 0.5f * other[i];
            mine_->write(mean);
            memory.write(mean);
        });
    }
    Averaged(const Averaged&) = delete;

    std::pair<StepResult, StepResult> step(std::int64_t it, double rate) {
        it_ = it, rate_ = rate;
        const StepResult mine = first_.step(it, rate, every_second(0));
        return {mine, theirs_};
    }

private:
    Trainer &first_, &second_;
    HookedTensor* mine_ = nullptr;
    StepResult theirs_;
    std::int64_t it_ = 0;
    double rate_ = 0;
};

class DeviceGradientHookIn : public ::testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(All, DeviceGradientHookIn, ::testing::Values(Format::f32, Format::f16),
                         [](const auto& test) { return test.param == Format::f32 ? "fp32" : "fp16"; });

/// Halving is exact, so that the hook's sum of two halves equals the sum over two micro-batches.
TEST_P(DeviceGradientHookIn, TwoThatAverageAreOneThatAccumulatesToTheLastBit) {
    TrainerConfig config{.activations = GetParam(), .loss_scaling = {.initial = 0x1p12f}, .optimizer = {}};
    config.optimizer.grad_clip = 0.25;
    Trainer first(shared_device(), loss_of(1), loss_of(1), config),
        second(shared_device(), loss_of(1), loss_of(1), config);
    config.gradient_accumulation_steps = 2;
    Trainer whole(shared_device(), loss_of(1), loss_of(1), config);
    Averaged both(first, second);
    for (std::int64_t it = 0; it < 4; ++it) {
        const StepResult wanted = whole.step(it, 1e-2, feed_of(1));
        const auto [mine, theirs] = both.step(it, 1e-2);
        ASSERT_GT(wanted.grad_norm, 0.25) << "nothing is clipped";
        EXPECT_EQ((mine.loss + theirs.loss) / 2, wanted.loss);
        EXPECT_EQ(mine.grad_norm, wanted.grad_norm);
        EXPECT_EQ(theirs.grad_norm, wanted.grad_norm);
        EXPECT_EQ(mine.loss_scale, wanted.loss_scale);
    }
    EXPECT_EQ(states_of(first), states_of(whole));
    EXPECT_EQ(states_of(second), states_of(whole));
}

double length(const std::vector<float>& a) {
    double sum = 0;
    for (const float x : a) sum += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(sum);
}

std::vector<float> difference(std::vector<float> a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
}

/// A gradient is a sum over at most 24 tokens, with at most 32 roundings on its way; a parameter is rounded once per
/// step.
TEST(DeviceGradientHook, TwoThatAverageAreOneWithTwiceTheBatch) {
    constexpr std::int64_t steps = 4;
    TrainerConfig config{.optimizer = {.kind = OptimizerKind::sgd, .grad_clip = 0.25}};
    Trainer first(shared_device(), loss_of(1), loss_of(1), config),
        second(shared_device(), loss_of(1), loss_of(1), config), whole(shared_device(), loss_of(2), loss_of(2), config);
    const States before = states_of(whole);
    Averaged both(first, second);
    for (std::int64_t it = 0; it < steps; ++it) {
        const StepResult wanted = whole.step(it, 0.1, feed_of(2));
        const auto [mine, theirs] = both.step(it, 0.1);
        EXPECT_NEAR((mine.loss + theirs.loss) / 2, wanted.loss, 0x1p-24 * 56 * wanted.loss);
        EXPECT_NEAR(mine.grad_norm, wanted.grad_norm, 0x1p-24 * 56 * static_cast<double>(it + 1) * wanted.grad_norm);
    }
    const States wanted = states_of(whole), found = states_of(first);
    EXPECT_EQ(states_of(second), found);
    double way = 0;
    for (const Parameter& p : whole.parameters().list())
        way = std::max(way, length(difference(wanted.at(p.name), before.at(p.name))));
    for (const Parameter& p : whole.parameters().list())
        EXPECT_LE(length(difference(found.at(p.name), wanted.at(p.name))),
                  0x1p-24 * steps * (56 * way + length(wanted.at(p.name))))
            << p.name;
}

/// A loss multiplied by 2^40 has gradients that overflow fp16.
TEST(DeviceGradientHook, AnOverflowInOneIsSeenByBoth) {
    const TrainerConfig config{.activations = Format::f16, .loss_scaling = {.initial = 16}, .optimizer = {}};
    Trainer first(shared_device(), loss_of(1), loss_of(1), config),
        second(shared_device(), loss_of(1, 0x1p40f), loss_of(1), config);
    const StepResult alone = first.step(0, 1e-2, feed_of(1));
    ASSERT_FALSE(alone.skipped);
    second.state().write("loss_scale", first.state().read("loss_scale"));
    States mine_before = states_of(first), theirs_before = states_of(second);
    Averaged both(first, second);
    const auto [mine, theirs] = both.step(1, 1e-2);
    EXPECT_TRUE(mine.skipped && theirs.skipped);
    EXPECT_EQ(mine.loss_scale, 8);
    EXPECT_EQ(theirs.loss_scale, 8);
    mine_before["loss_scale"] = theirs_before["loss_scale"] = {8, 0};
    EXPECT_EQ(states_of(first), mine_before);
    EXPECT_EQ(states_of(second), theirs_before);
}

/// With SGD without clipping and decay, the momentum after the first step is the gradient.
TEST(DeviceGradientHook, SeesEveryGradientAndWhatItLeavesUpdatesTheParameters) {
    for (const std::int64_t micro_batches : {1, 2})
        for (const std::int64_t bucket_bytes : {std::numeric_limits<std::int64_t>::max(), std::int64_t{6000}}) {
            SCOPED_TRACE(testing::Message() << micro_batches << " micro-batches, buckets of " << bucket_bytes);
            const bool one = bucket_bytes > 6000;
            const TrainerConfig config{.gradient_accumulation_steps = micro_batches,
                                       .bucket_bytes = bucket_bytes,
                                       .optimizer = {.kind = OptimizerKind::sgd, .weight_decay = 0, .grad_clip = 0}};
            Trainer plain(shared_device(), loss_of(1), loss_of(1), config),
                doubled(shared_device(), loss_of(1), loss_of(1), config);
            States seen;
            std::vector<std::string> names;
            std::size_t buckets = 0;
            doubled.set_gradient_hook([&](const GradientBucket& bucket, HookedTensor& memory) {
                ++buckets;
                std::vector<float> all = values(memory);
                ASSERT_EQ(std::ssize(all), bucket.layout.elements);
                if (!one && bucket.names.size() > 1) {
                    EXPECT_LE(4 * bucket.layout.elements, bucket_bytes);
                }
                for (std::size_t i = 0; i < bucket.names.size(); ++i) {
                    const auto first = all.begin() + bucket.layout.offsets[i];
                    seen["m/" + bucket.names[i]] = {first, first + bucket.layout.shapes[i].elements()};
                    names.push_back(bucket.names[i]);
                }
                for (float& value : all) value *= 2;
                memory.write(all);
            });
            const double norm = plain.step(0, 0.1, feed_of(1)).grad_norm;
            EXPECT_EQ(doubled.step(0, 0.1, feed_of(1)).grad_norm, 2 * norm);
            EXPECT_EQ(buckets == 1, one);
            std::vector<std::string> wanted;
            for (const Parameter& p : plain.parameters().list()) wanted.push_back(p.name);
            EXPECT_EQ(names, wanted);
            for (const auto& [name, gradient] : seen) {
                EXPECT_EQ(plain.state().read(name), gradient) << name;
                std::vector<float> twice = gradient;
                for (float& value : twice) value *= 2;
                EXPECT_EQ(doubled.state().read(name), twice) << name;
            }
        }
}

/// All states after six updates, two of them under way at a time. The hook throws once, at update `stop`, which is then
/// started again.
States trained(const TrainerConfig& config, std::int64_t stop) {
    Trainer trainer(shared_device(), loss_of(1), loss_of(1), config);
    std::int64_t it = 0, stopped = 0;
    trainer.set_gradient_hook([&](const GradientBucket&, HookedTensor&) {
        if (it == stop && ++stopped == 1) throw std::runtime_error("stop");
    });
    while (it < 6) {
        try {
            trainer.start(it, 1e-2, feed_of(1));
            ++it;
        } catch (const std::runtime_error&) {
            const States after = states_of(trainer);
            EXPECT_THROW(
                {
                    stopped = 0;
                    trainer.start(it, 1e-2, feed_of(1));
                },
                std::runtime_error);
            EXPECT_EQ(states_of(trainer), after);
            stopped = 1;
        }
        if (trainer.under_way() == 2) trainer.finish();
    }
    while (trainer.under_way() > 0) trainer.finish();
    EXPECT_EQ(stopped > 0, stop >= 0);
    return states_of(trainer);
}

TEST_P(DeviceGradientHookIn, AnUpdateWhoseHookThrowsHasNotBegun) {
    for (const std::int64_t micro_batches : {1, 3}) {
        const TrainerConfig config{
            .gradient_accumulation_steps = micro_batches, .activations = GetParam(), .optimizer = {}};
        const States wanted = trained(config, -1);
        for (const std::int64_t stop : {0, 3})
            EXPECT_EQ(trained(config, stop), wanted) << micro_batches << " micro-batches, stopped at " << stop;
    }
}

TEST(DeviceGradientHook, WithoutOneAnUpdateIsOneSubmissionForEachOfItsPrograms) {
    for (const std::int64_t micro_batches : {1, 3}) {
        const TrainerConfig config{.gradient_accumulation_steps = micro_batches, .optimizer = {}};
        Trainer trainer(shared_device(), loss_of(1), loss_of(1), config);
        const auto submitted = [&] {
            const std::uint64_t before = submissions(shared_device());
            trainer.step(0, 1e-3, feed_of(1));
            return static_cast<std::int64_t>(submissions(shared_device()) - before);
        };
        const std::int64_t programs = micro_batches == 1 ? 1 : micro_batches + 1;
        EXPECT_EQ(submitted(), programs);
        trainer.set_gradient_hook([](const GradientBucket&, HookedTensor&) {});
        EXPECT_EQ(submitted(), programs + 1);
        trainer.set_gradient_hook({});
        EXPECT_EQ(submitted(), programs);
    }
}

TEST(DeviceGradientHook, LearnsTheSameInAnyOrder) {
    const auto learned = [](std::int64_t micro_batches, bool hooked, const std::optional<std::string>& seed) {
        const Shuffled order(seed);
        const TrainerConfig config{.gradient_accumulation_steps = micro_batches, .optimizer = {}};
        Trainer trainer(shared_device(), loss_of(1), loss_of(1), config);
        if (hooked)
            trainer.set_gradient_hook(
                [](const GradientBucket&, HookedTensor& memory) { memory.write(values(memory)); });
        for (std::int64_t it = 0; it < 3; ++it) trainer.step(it, 1e-3, feed_of(1));
        return states_of(trainer);
    };
    for (const std::int64_t micro_batches : {1, 2}) {
        const States wanted = learned(micro_batches, false, std::nullopt);
        for (const char* seed : {"1", "2"}) EXPECT_EQ(learned(micro_batches, true, seed), wanted) << "seed " << seed;
    }
}

}  // namespace
}  // namespace vkf::test
