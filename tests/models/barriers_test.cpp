// Barriers of whole models: they suffice, each is needed, and commands between two barriers may run in any order.

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "device_fixture.h"
#include "models/families/gpt2.h"
#include "models/families/vit.h"
#include "models/generation/generate.h"
#include "models/train/trainer.h"
#include "op_check.h"
#include "ops/elementwise/activation.h"
#include "vulkan/races.h"
#include "vulkan/shuffled.h"

namespace vkf::test {
namespace {

constexpr std::int64_t BATCH = 2, LENGTH = 64, SIDE = 16, LABELS = 10;

/// configs/shakespeare-char-cpu.toml
Gpt2Config small_gpt(const std::string& variant) {
    Gpt2Config c{.vocab_size = 65, .n_positions = LENGTH, .n_embd = 128, .n_layer = 4, .n_head = 4};
    c.activation = Activation::gelu;
    c.bias = false;
    c.attention.set_variant(variant);
    return c;
}

VitConfig small_vit(const std::string& variant) {
    VitConfig c{.image_size = SIDE,
                .patch_size = 4,
                .hidden_size = 48,
                .num_hidden_layers = 3,
                .num_attention_heads = 3,
                .intermediate_size = 96,
                .num_labels = LABELS,
                .attention = {}};
    c.attention.set_variant(variant);
    return c;
}

struct Model {
    std::string name;
    LossGraph loss;
    Feed feed;
};

Model text_model(const std::string& variant) {
    return {"GPT, " + variant,
            [c = small_gpt(variant)](const Scope& scope) { return language_loss(scope, c, BATCH, LENGTH); },
            [](Program& program, std::uint64_t number) {
                std::vector<std::int32_t> tokens;
                for (std::uint64_t i = 0; i <= BATCH * LENGTH; ++i)
                    tokens.push_back(static_cast<std::int32_t>((i * i + 7 * number) % 65));
                program.write("tokens", std::span(tokens).first(BATCH * LENGTH));
                program.write("targets", std::span(tokens).last(BATCH * LENGTH));
            }};
}

Model image_model(const std::string& variant) {
    return {"ViT, " + variant, [c = small_vit(variant)](const Scope& scope) { return image_loss(scope, c, BATCH); },
            [](Program& program, std::uint64_t number) {
                std::vector<float> images(BATCH * 3 * SIDE * SIDE), targets(BATCH * LABELS);
                for (std::size_t i = 0; i < images.size(); ++i)
                    images[i] = static_cast<float>(std::sin(static_cast<double>(i * i + number)));
                for (std::size_t i = 0; i < BATCH; ++i) targets[LABELS * i + (3 * i + number) % LABELS] = 1.0f;
                program.write("images", images);
                program.write("targets", targets);
            }};
}

std::vector<Model> models() {
    std::vector<Model> made;
    for (const char* variant : {"standard", "belief", "belief-star"})
        for (const auto& model : {text_model, image_model}) made.push_back(model(variant));
    return made;
}

// ------------------------------------------------------------------------------ enough, and needed

/// Checks that no command touches bytes that another command may write at the same time, and that without any single
/// barrier one would.
void expect_proved(const Program& program) {
    for (const Recording* recording : program.recordings()) {
        EXPECT_EQ(race(*recording), "");
        for (const Segment& segment : recording->segments) {
            for (const Phase& phase : segment)
                for (const Command& command : phase.commands) EXPECT_EQ(misstated(command), "");
            for (std::size_t i = 1; i < segment.size(); ++i)
                EXPECT_NE(race(without_barrier(segment[i - 1], segment[i])), "") << "barrier " << i << " is not needed";
        }
    }
}

/// Checks that the barrier at the hook is needed: without it, commands before and after the hook would race.
void expect_apart_at_hook(const Program& program) {
    const std::vector<const Recording*> recordings = program.recordings();
    ASSERT_EQ(recordings.size(), 4U);
    const Phase &before = recordings[1]->segments.back().back(), &behind = recordings[2]->segments.front().front();
    if (!before.commands.empty()) {
        EXPECT_NE(race(without_barrier(before, behind)), "");
    }
}

/// Commands that would run at once if no command buffer began with a barrier.
Phase where_runs_meet(const Program& first, const Program& second) {
    const std::vector<const Recording*> before = first.recordings(), next = second.recordings();
    Phase all = before[before.size() - 2]->segments.back().back();
    // With micro-batches the update begins with its hook.
    const Recording* kernels = next[1]->segments.front().front().commands.empty() ? next[2] : next[1];
    for (const Recording* recording : {before.back(), next[0], kernels})
        all = without_barrier(all, recording->segments.front().front());
    return all;
}

/// Programs of a trainer, with the given lowering.
struct Programs {
    State state{shared_device()};
    StepGraphs graphs;
    Graph evaluation_graph;
    std::vector<std::unique_ptr<Program>> list;  // step, update (if there is one), evaluation

    Programs(const LossGraph& loss, const TrainerConfig& config, const std::optional<DeviceTraits>& lowering)
        : graphs(loss, config) {
        evaluation_graph.activations = config.activations;
        evaluation_graph.output("loss", loss(Scope(evaluation_graph, graphs.parameters)));
        add(graphs.step, lowering);
        if (graphs.update) add(*graphs.update, lowering);
        add(evaluation_graph, lowering);
    }

private:
    void add(Graph& graph, const std::optional<DeviceTraits>& lowering) {
        const Program* shares = list.empty() ? nullptr : list.front().get();
        list.push_back(std::make_unique<Program>(shared_device(), graph, state,
                                                 ProgramOptions{.traits = lowering, .shares = shares}));
    }
};

void expect_proved(const Model& model, Format activations, std::int64_t micro_batches,
                   const std::optional<DeviceTraits>& lowering) {
    SCOPED_TRACE(testing::Message() << model.name << ", " << micro_batches << " micro-batches, activations "
                                    << static_cast<int>(activations) << (lowering ? ", as for a GPU" : ""));
    const Programs programs(model.loss,
                            {.gradient_accumulation_steps = micro_batches,
                             .dropout = 0.1f,
                             .activations = activations,
                             .half_factors = activations != Format::f32,
                             .optimizer = {}},
                            lowering);
    EXPECT_GT(programs.list.front()->barriers(), 50U);
    for (const auto& program : programs.list) expect_proved(*program);
    expect_apart_at_hook(*programs.list[micro_batches > 1 ? 1 : 0]);
    for (std::size_t i = 1; i < programs.list.size(); ++i)
        EXPECT_NE(race(where_runs_meet(*programs.list[i - 1], *programs.list[i])), "") << "run " << i;
    EXPECT_NE(race(where_runs_meet(*programs.list.front(), *programs.list.front())), "") << "a run and the next";
}

void expect_all_proved(Format activations, std::int64_t micro_batches) {
    for (const Model& model : models())
        for (const bool as_gpu : {false, true})
            expect_proved(model, activations, micro_batches,
                          as_gpu ? std::optional(traits_of_gpu(shared_device())) : std::nullopt);
}

TEST(DeviceBarriers, OfTrainingAreEnoughAndEachIsNeeded) {
    for (const std::int64_t micro_batches : {1, 2}) expect_all_proved(Format::f32, micro_batches);
}

TEST(DeviceBarriers, OfMixedTrainingAreEnoughAndEachIsNeeded) {
    expect_all_proved(Format::bf16, 1);
    expect_all_proved(Format::f16, 2);
}

TEST(DeviceBarriers, OfGenerationAreEnoughAndEachIsNeeded) {
    for (const char* variant : {"standard", "belief", "belief-star"})
        for (const auto& [rows, length] : {std::pair{1, 1}, {1, 16}, {3, 1}}) {
            SCOPED_TRACE(testing::Message() << variant << ", " << length << " tokens at once of " << rows << " rows");
            Graph graph;
            Parameters parameters;
            State state(shared_device());
            prefill_chunk(Scope(graph, parameters), small_gpt(variant), length, Format::f32, rows);
            expect_proved(Program(shared_device(), graph, state));
        }
}

TEST(DeviceBarriers, AreEnoughWithinShortSegments) {
    StepGraphs graphs(text_model("belief").loss, {.optimizer = {}});
    State state(shared_device());
    const Program program(shared_device(), graphs.step, state, {.segment_ms = 1e-3});
    EXPECT_GT(program.segments(), 50U);
    expect_proved(program);
}

// --------------------------------------------------------------------------------------- any order

/// Losses, norms, parameters and moments after three updates and an evaluation.
std::map<std::string, std::vector<float>> trained(const Model& model, const TrainerConfig& config,
                                                  const std::optional<std::string>& seed) {
    const Shuffled order(seed);
    Trainer trainer(shared_device(), model.loss, model.loss, config);
    std::map<std::string, std::vector<float>> found;
    for (std::int64_t it = 0; it < 3; ++it) {
        const StepResult result = trainer.step(it, 1e-3, model.feed);
        found["loss"].push_back(static_cast<float>(result.loss));
        found["norm"].push_back(static_cast<float>(result.grad_norm));
    }
    found["evaluation"].push_back(static_cast<float>(trainer.evaluate(model.feed, 0, 2)));
    for (const std::string& name : trainer.kept_states()) found[name] = trainer.state().read(name);
    return found;
}

void expect_same_in_any_order(const Model& model, const TrainerConfig& config,
                              std::initializer_list<std::string> seeds) {
    const auto wanted = trained(model, config, std::nullopt);
    for (const std::string& seed : seeds)
        EXPECT_EQ(trained(model, config, seed), wanted) << model.name << ", seed " << seed;
}

TEST(DeviceShuffled, ModelsLearnTheSameToTheLastBit) {
    for (const Model& model : models()) {
        expect_same_in_any_order(model, {.dropout = 0.1f, .optimizer = {}}, {"1", "2", "3"});
        expect_same_in_any_order(
            model, {.gradient_accumulation_steps = 2, .activations = Format::bf16, .optimizer = {}}, {"4"});
    }
}

/// Kernels' names phase by phase.
std::vector<std::string> order(const Program& program) {
    std::vector<std::string> names;
    for (const Recording* recording : program.recordings())
        for (const Segment& segment : recording->segments)
            for (const Phase& phase : segment)
                for (const Command& command : phase.commands)
                    if (const auto* launch = std::get_if<KernelLaunch>(&command.what))
                        names.push_back(launch->kernel->name);
    return names;
}

TEST(DeviceShuffled, ProgramsRunInAnotherOrder) {
    StepGraphs graphs(text_model("belief").loss, {.optimizer = {}});
    State state(shared_device());
    const auto of = [&](const std::optional<std::string>& seed) {
        const Shuffled shuffled(seed);
        return order(Program(shared_device(), graphs.step, state));
    };
    EXPECT_EQ(of(std::nullopt), of(std::nullopt));
    EXPECT_EQ(of("1"), of("1"));
    EXPECT_NE(of("1"), of(std::nullopt));
    EXPECT_NE(of("1"), of("2"));
}

}  // namespace
}  // namespace vkf::test
