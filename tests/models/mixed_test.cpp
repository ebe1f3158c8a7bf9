// Models whose activations are stored in 16 bits.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/half.h"
#include "device_fixture.h"
#include "graph/plan.h"
#include "graph/reference.h"
#include "models/train/trainer.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "passes/run_passes.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

constexpr std::int64_t ROWS = 2, LENGTH = 12;

LossGraph loss_of(const Gpt2Config& model) {
    return [=](const Scope& scope) { return language_loss(scope, model, ROWS, LENGTH); };
}

TrainerConfig config_of(Format activations) {
    TrainerConfig config;
    config.activations = activations;
    return config;
}

std::int64_t arena_of(const Graph& graph) {
    const std::vector<std::vector<std::int64_t>> none(graph.nodes().size());
    return plan(graph, live_nodes(graph), none).bytes;
}

TEST(HostMixed, NarrowsActivationsAndNothingElse) {
    const Gpt2Config model = tiny_gpt2("belief");
    StepGraphs whole(loss_of(model), config_of(Format::f32)), mixed(loss_of(model), config_of(Format::bf16));
    for (StepGraphs* graphs : {&whole, &mixed}) run_passes(graphs->step);
    std::size_t narrow = 0;
    for (const Storage& storage : mixed.step.storages()) {
        if (storage.format == Format::f32) continue;
        ++narrow;
        EXPECT_EQ(storage.role, Role::transient);
        EXPECT_EQ(storage.type.shape.width() % 2, 0);
    }
    EXPECT_GT(narrow, 20U);
    const std::vector<std::string_view> wide{"embedding", "cross_entropy", "global_norm"},
        packed{"attention_project_out", "layer_norm", "attention_project_out_backward", "gelu"};
    const auto of = [](const std::vector<std::string_view>& names, const Node& node) {
        return std::find(names.begin(), names.end(), node.op->name()) != names.end();
    };
    const LiveNodes live = live_nodes(mixed.step);
    for (std::size_t i = 0; i < live.nodes.size(); ++i) {
        const Node& node = mixed.step.nodes()[i];
        if (!live[i]) continue;
        const std::string place = node.scope + ": " + std::string(node.op->name());
        if (node.op->name() == "layer_norm") {
            EXPECT_EQ(node.in[0].format(), Format::f32) << place << " reads the residual stream";
        }
        if (of(packed, node) && node.scope.starts_with("h.")) {
            EXPECT_EQ(node.out[0].format(), Format::bf16) << place;
        } else if (of(wide, node) || (node.op->name() == "add" && node.scope.find("ln_") != std::string::npos)) {
            EXPECT_EQ(node.out[0].format(), Format::f32) << place;
        }
    }
    EXPECT_LT(static_cast<double>(arena_of(mixed.step)), 0.75 * static_cast<double>(arena_of(whole.step)));
}

TEST(HostMixed, LeavesOddRowsAndOutputsAlone) {
    Graph graph;
    const Tensor odd = graph.input("odd", {DType::f32, {4, 7}}), even = graph.input("even", {DType::f32, {4, 6}});
    const Tensor a = scale(odd, 2.0f), b = scale(even, 2.0f), c = scale(even, 3.0f), d = scale(even, 4.0f);
    graph.output("y", activate(a, Activation::relu));
    graph.output("z", scale(b, 2.0f));
    graph.output("c", c);
    graph.output("odd start", activate(slice(d, 1, 1, 4), Activation::relu));
    graph.activations = Format::f16;
    run_passes(graph, only_storage_types);
    EXPECT_EQ(a.format(), Format::f32);
    EXPECT_EQ(d.format(), Format::f32);
    EXPECT_EQ(b.format(), Format::f16);
    EXPECT_EQ(c.format(), Format::f32);
}

TEST(DeviceNarrowed, Bfloat16IsRoundedAsOnTheHost) {
    std::vector<float> given;
    for (const std::uint32_t upper : {0x0080u, 0x3f80u, 0x3f81u, 0xc2ffu, 0x7f7eu})  // exponents of all kinds
        for (const std::uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
            given.push_back(std::bit_cast<float>(upper << 16 | lower));
    const auto count = static_cast<std::int64_t>(given.size());
    Graph graph;
    const Tensor kept = scale(graph.input("x", {DType::f32, {count}}), 1.0f);
    graph.output("y", scale(kept, 1.0f));
    graph.activations = Format::bf16;
    run_passes(graph, only_storage_types);
    ASSERT_EQ(kept.format(), Format::bf16);
    State state(shared_device());
    Program program(shared_device(), graph, state);
    program.write("x", given);
    program.run();
    const std::vector<float> found = program.read("y");
    for (std::size_t i = 0; i < given.size(); ++i)
        EXPECT_EQ(found[i], from_bfloat16(to_bfloat16(given[i]))) << std::hexfloat << given[i];
}

class DeviceMixed : public ::testing::TestWithParam<std::string> {};

/// Checks a step against the interpreter, which rounds values stored in 16 bits as kernels do. A number close to the
/// middle of two neighbours may be rounded either way, by 2^-8 of it; a mean over hundreds of numbers is far closer.
void expect_step_as_interpreted(const Gpt2Config& model, Format format, bool half_factors) {
    TrainerConfig config = config_of(format);
    config.half_factors = half_factors;
    const Batch batch = tiny_batch();
    StepGraphs graphs(loss_of(model), config);
    Arrays leaves;
    for (const Storage& storage : graphs.step.storages())
        if (storage.role != Role::transient)
            leaves[storage.name] = {storage.type.shape,
                                    std::vector<double>(static_cast<std::size_t>(storage.type.shape.elements()))};
    State state(shared_device());
    Program program(shared_device(), graphs.step, state);
    for (const Parameter& p : graphs.parameters.list()) {
        const std::vector<float> values = initial_values(p, 5);
        leaves[p.name].at.assign(values.begin(), values.end());
        state.write(p.name, values);
    }
    leaves["tokens"].at.assign(batch.at("tokens").begin(), batch.at("tokens").end());
    leaves["targets"].at.assign(batch.at("targets").begin(), batch.at("targets").end());
    leaves["rates"].at = {1e-3, 1e-3, 1, 1};
    if (format == Format::f16) {
        leaves["loss_scale"].at = {1024, 0};
        state.write("loss_scale", std::array{1024.0f, 0.0f});
    }
    write_batch(program, batch);
    program.write("rates", std::array{1e-3f, 1e-3f, 1.0f, 1.0f});
    program.run();
    const Arrays wanted = interpret(graphs.step, leaves);
    const double unit = format == Format::bf16 ? 0x1p-8 : 0x1p-11;
    const double loss = wanted.at("loss").at[0], norm = wanted.at("grad_norm").at[0];
    EXPECT_NEAR(program.read_scalar("loss"), loss, unit / 8 * loss);
    EXPECT_NEAR(program.read_scalar("grad_norm"), norm, unit * norm);
}

TEST_P(DeviceMixed, StepsAsTheInterpreterDoes) {
    for (const Format format : {Format::bf16, Format::f16})
        for (const bool half_factors : {false, true})
            expect_step_as_interpreted(tiny_gpt2(GetParam()), format, half_factors);
}

TEST_P(DeviceMixed, LearnsAsInFp32) {
    const LossGraph loss = loss_of(tiny_gpt2(GetParam()));
    const Batch batch = tiny_batch();
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    Trainer whole(shared_device(), loss, loss, config_of(Format::f32));
    Trainer mixed(shared_device(), loss, loss, config_of(Format::bf16));
    TrainerConfig config = config_of(Format::bf16);
    config.half_factors = true;
    Trainer cast(shared_device(), loss, loss, config);
    for (std::int64_t it = 0; it < 40; ++it) {
        const double wanted = whole.step(it, 1e-3, feed).loss;
        for (Trainer* trainer : {&mixed, &cast})
            ASSERT_NEAR(trainer->step(it, 1e-3, feed).loss, wanted, 0.01 * wanted) << "step " << it;
    }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceMixed, ::testing::ValuesIn(variant_names()), variant_id);

}  // namespace
}  // namespace vkf::test
