// Timelines of training steps.

#include "apps/train/step_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "models/language_model.h"
#include "models/train/trainer.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

Trainer trainer_of(std::int64_t micro_steps) {
    const auto loss = [](const Scope& scope) { return language_loss(scope, tiny_gpt2("belief-star"), 2, 12); };
    TrainerConfig config;
    config.gradient_accumulation_steps = micro_steps;
    return Trainer(shared_device(), loss, loss, config);
}

std::vector<std::vector<float>> states_of(const Trainer& trainer) {
    std::vector<std::vector<float>> states;
    for (const std::string& name : trainer.kept_states()) states.push_back(trainer.state().read(name));
    return states;
}

class DeviceStepTrace : public testing::TestWithParam<std::int64_t> {};

/// The host's events of a step follow each other; the device's are the nodes of all programs, each once, one after the
/// other within the time that the host was busy with the run.
TEST_P(DeviceStepTrace, HasEveryNodeOnceWithinItsRun) {
    Trainer trainer = trainer_of(GetParam());
    const Batch batch = tiny_batch();
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    StepTrace trace("a device");
    std::size_t runs = 0, nodes = 0;
    trainer.set_trace([&](const TracedRun& run) {
        trace.add(7, run);
        ++runs;
        nodes += run.program.node_times().size();
    });
    trainer.step(0, 1e-3, feed);
    EXPECT_EQ(runs, GetParam() == 1 ? 1u : static_cast<std::size_t>(GetParam()) + 1);

    const nlohmann::ordered_json events = trace.document().at("traceEvents");
    EXPECT_EQ(events.at(0).at("args").at("name"), "host");
    EXPECT_EQ(events.at(1).at("args").at("name"), "a device");
    std::size_t on_device = 0;
    std::set<std::string> host_names, ops;
    double device_end = 0, run_end = 0;
    for (const auto& event : events) {
        if (event.at("ph") == "M") continue;
        const double start = event.at("ts"), duration = event.at("dur");
        EXPECT_GE(duration, 0);
        if (event.at("pid") == 1) {
            host_names.insert(event.at("name"));
            if (event.at("name") == "step 7") run_end = start + duration;
            continue;
        }
        ++on_device;
        ops.insert(event.at("name"));
        EXPECT_GE(start, device_end - 1e-3) << event;
        device_end = start + duration;
        EXPECT_LE(device_end, run_end + 1e-3) << event;
        EXPECT_FALSE(event.at("args").at("kernel").get<std::string>().empty());
    }
    EXPECT_EQ(on_device, nodes);
    EXPECT_EQ(host_names, (std::set<std::string>{"read batch", "step 7", "submit", "wait for device"}));
    EXPECT_TRUE(ops.contains("matmul") && ops.contains("embedding")) << testing::PrintToString(ops);
}

/// Timestamps change no bit, and updates go on as before when the trace has ended.
TEST_P(DeviceStepTrace, ChangesNoResult) {
    const Batch batch = tiny_batch();
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    Trainer traced = trainer_of(GetParam()), plain = trainer_of(GetParam());
    for (std::int64_t step = 0; step < 4; ++step) {
        std::size_t runs = 0;
        traced.set_trace(step % 2 == 0 ? Trace([&](const TracedRun&) { ++runs; }) : Trace());
        EXPECT_EQ(traced.step(step, 1e-3, feed).loss, plain.step(step, 1e-3, feed).loss);
        EXPECT_EQ(runs > 0, step % 2 == 0);
    }
    EXPECT_EQ(states_of(traced), states_of(plain));
}

INSTANTIATE_TEST_SUITE_P(Accumulation, DeviceStepTrace, testing::Values(1, 3));

}  // namespace
}  // namespace vkf::test
