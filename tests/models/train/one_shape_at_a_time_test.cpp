// Updates of one shape after those of another, by programs of which a trainer keeps those of one shape only.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "models/train/trainer.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

constexpr std::int64_t lengths[] = {4, 8, 12};
constexpr std::int64_t updates_of_a_shape = 3;

/// Losses of micro-batches of 2 rows, three updates of each length.
LossGraphs growing(bool one_at_a_time, std::int64_t micro_batches) {
    LossGraphs made{.one_at_a_time = one_at_a_time};
    for (const std::int64_t length : lengths)
        made.shapes.push_back(
            [length](const Scope& scope) { return language_loss(scope, tiny_gpt2("belief"), 2, length); });
    made.shape_of = [micro_batches](std::uint64_t number) {
        const auto update = static_cast<std::int64_t>(number) / micro_batches;
        return static_cast<std::size_t>(std::min<std::int64_t>(update / updates_of_a_shape, 2));
    };
    return made;
}

/// Tokens of a length, other ones for every number.
void write_tokens(Program& program, std::uint64_t number, std::int64_t length) {
    std::vector<std::int32_t> tokens, targets;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(2 * length); ++i) {
        tokens.push_back(static_cast<std::int32_t>((i * i + 5 * number) % 17));
        targets.push_back(static_cast<std::int32_t>((3 * i + number) % 17));
    }
    program.write("tokens", tokens);
    program.write("targets", targets);
}

struct Numbers {
    std::map<std::string, std::vector<float>> values;

    void add(const std::string& name, double value) { values[name].push_back(static_cast<float>(value)); }
};

/// All numbers of a run of nine updates, of which up to two are under way at once, with an evaluation after every
/// fourth. With `begin` above 0, the run starts there from the states of `earlier`.
Numbers run(const TrainerConfig& config, bool one_at_a_time, std::int64_t begin = 0, const Numbers* earlier = nullptr,
            std::int64_t end = 9) {
    const std::int64_t micro_batches = config.gradient_accumulation_steps;
    const LossGraphs training = growing(one_at_a_time, micro_batches);
    const LossGraphs evaluation{.shapes = {training.shapes.back()}};
    Trainer trainer(shared_device(), training, evaluation, config);
    if (earlier)
        for (const std::string& name : trainer.kept_states()) trainer.state().write(name, earlier->values.at(name));
    std::int64_t hooked = 0;
    trainer.set_gradient_hook([&](const GradientBucket&, HookedTensor&) { ++hooked; });
    const Feed feed = [&](Program& program, std::uint64_t number) {
        write_tokens(program, number, lengths[training.shape_of(number)]);
    };
    const Feed evaluated = [](Program& program, std::uint64_t number) { write_tokens(program, number, lengths[2]); };
    Numbers found;
    const auto finish = [&] {
        const StepResult result = trainer.finish();
        found.add("loss", result.loss);
        found.add("norm", result.grad_norm);
    };
    for (std::int64_t it = begin; it < end; ++it) {
        if (it % 4 == 0) {
            while (trainer.under_way() > 0) finish();
            found.add("evaluation", trainer.evaluate(evaluated, 0, 2));
        }
        trainer.start(it, 1e-2, feed);
        EXPECT_EQ(trainer.programs().size(), (one_at_a_time ? 1u : 3u) + (micro_batches > 1 ? 1u : 0u));
        if (trainer.under_way() == 2) finish();
        found.add("flops", trainer.flops(it));
    }
    while (trainer.under_way() > 0) finish();
    EXPECT_EQ(hooked, end - begin);
    for (const std::string& name : trainer.kept_states()) found.values[name] = trainer.state().read(name);
    return found;
}

TrainerConfig plain_config(std::int64_t micro_batches) {
    TrainerConfig config;
    config.gradient_accumulation_steps = micro_batches;
    config.dropout = 0.1f;
    return config;
}

TEST(DeviceOneShapeAtATime, ChangesNoBit) {
    for (const std::int64_t micro_batches : {1, 2}) {
        TrainerConfig config = plain_config(micro_batches);
        config.optimizer.ema_decay = 0.5;
        EXPECT_EQ(run(config, true).values, run(config, false).values) << micro_batches << " micro-batches";
    }
}

TEST(DeviceOneShapeAtATime, ContinuesInEveryPhase) {
    for (const std::int64_t micro_batches : {1, 2}) {
        const TrainerConfig config = plain_config(micro_batches);
        const Numbers whole = run(config, true);
        for (const std::int64_t stop : {2, 3, 5, 6, 8}) {
            const Numbers first = run(config, true, 0, nullptr, stop), rest = run(config, true, stop, &first);
            for (const auto& [name, values] : rest.values) {
                if (name != "loss" && name != "norm" && name != "flops" && name != "evaluation") {
                    EXPECT_EQ(values, whole.values.at(name)) << name << " after " << stop;
                }
            }
            std::vector<float> losses = first.values.at("loss");
            const std::vector<float>& later = rest.values.at("loss");
            losses.insert(losses.end(), later.begin(), later.end());
            EXPECT_EQ(losses, whole.values.at("loss")) << stop;
        }
    }
}

TEST(DeviceOneShapeAtATime, ReleasesTheMemoryOfOtherShapes) {
    const auto held = [](bool one_at_a_time, std::int64_t updates) {
        const std::uint64_t before = shared_device().allocated_bytes();
        const LossGraphs training = growing(one_at_a_time, 1);
        Trainer trainer(shared_device(), training, LossGraphs{.shapes = {training.shapes.back()}}, {});
        for (std::int64_t it = 0; it < updates; ++it)
            trainer.step(it, 1e-3, [&](Program& program, std::uint64_t number) {
                write_tokens(program, number, lengths[training.shape_of(number)]);
            });
        return shared_device().allocated_bytes() - before;
    };
    const std::uint64_t states = held(true, 0), small = held(true, 1), large = held(true, 9), all = held(false, 9);
    EXPECT_LT(states, small);
    EXPECT_LT(small, large);
    EXPECT_LT(large, all);
    EXPECT_EQ(held(true, 7), large);  // as soon as the last shape is there
}

}  // namespace
}  // namespace vkf::test
