// `inspect --fit`: answers are the largest sizes that fit, by analysing them and the next.

#include "apps/inspect/inspect_fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "inspect_models.h"

namespace vkf::test {
namespace {

DeviceTraits no_device(const Graph&) {
    return {};
}

const Fit& answer(const std::vector<Fit>& fits, const std::string& key) {
    const auto found = std::ranges::find(fits, key, &Fit::key);
    if (found == fits.end()) throw std::runtime_error("no answer for " + key);
    return *found;
}

std::int64_t run_bytes(const InspectedModel& model) {
    return analyse_run(model.loss(), model.loss(true), model.trainer, no_device).bytes();
}

constexpr Room few_mebibytes{.bytes = 6 << 20};

TEST(HostFit, TheNextSizeDoesNotFit) {
    const InspectedModel model = inspected_gpt2();
    const std::vector<Fit> fits = find_fits(model, no_device, few_mebibytes);
    const auto bytes = [&](const std::string& key, std::int64_t size) {
        InspectedModel changed = model;
        Gpt2Config c = model.config.as<Gpt2Config>();
        if (key == "batch_size") changed.sizes.rows = size;
        if (key == "context") c.n_positions = changed.sizes.length = size;
        if (key == "layers") c.n_layer = size;
        if (key == "heads") c.n_head = size, c.n_embd = 16 * size;
        changed.config = c;
        return run_bytes(changed);
    };
    ASSERT_EQ(fits.size(), 4U);
    for (const Fit& fit : fits) {
        const LargestSize& found = fit.training.largest;
        ASSERT_GT(found.size, 1) << fit.key;
        EXPECT_EQ(bytes(fit.key, found.size), found.bytes) << fit.key;
        EXPECT_LE(found.bytes, few_mebibytes.bytes) << fit.key;
        EXPECT_EQ(bytes(fit.key, found.size + 1), found.next.bytes) << fit.key;
        EXPECT_GT(found.next.bytes, few_mebibytes.bytes) << fit.key;
    }
    EXPECT_EQ(answer(fits, "heads").training.width, 16 * answer(fits, "heads").training.largest.size);
    EXPECT_NE(answer(fits, "context").note.find("192 bytes a position"), std::string::npos);
}

TEST(HostFit, ARunHoldsItsEvaluation) {
    const InspectedModel model = inspected_bert();  // an evaluation has an output of its own
    const Analysis run = analyse_run(model.loss(), model.loss(true), model.trainer, no_device);
    StepGraphs graphs(model.loss(), model.trainer);
    const Analysis step = analyse(graphs, DeviceTraits());
    Graph graph;
    Parameters parameters;
    graph.output("loss", model.loss(true)(Scope(graph, parameters)));
    const Analysis evaluation = analyse(graph, DeviceTraits());
    EXPECT_EQ(run.inputs, step.inputs + evaluation.inputs);
    EXPECT_EQ(run.outputs, step.outputs + evaluation.outputs);
    EXPECT_EQ(run.tables, step.tables + evaluation.tables);
    EXPECT_EQ(run.arena, std::max(step.arena, evaluation.arena));
    EXPECT_EQ(run.states, step.states);
    EXPECT_GT(evaluation.outputs, 2 * 32 * 4);
}

TEST(HostFit, GenerationHoldsWeightsAndCaches) {
    const InspectedModel model = inspected_llama();
    const std::vector<Fit> fits = find_fits(model, no_device, few_mebibytes);
    const LargestSize& rows = answer(fits, "batch_size").inference.largest;
    const std::int64_t cache = 2 * 3 * 32 * 16 * 4;  // of a row
    EXPECT_GE((rows.size + 1) * cache, few_mebibytes.bytes / 2);
    EXPECT_LE(rows.size * cache, few_mebibytes.bytes);
    EXPECT_EQ(answer(fits, "context").note, "");  // rotary positions have no table
}

TEST(HostFit, EveryFamilyGrows) {
    for (const InspectedModel& model : inspected_models()) {
        const std::vector<Fit> fits = find_fits(model, no_device, few_mebibytes);
        for (const Fit& fit : fits)
            for (const FittedSize* at : {&fit.training, &fit.inference}) {
                EXPECT_GT(at->largest.size, 0) << model.config.family().title << ", " << fit.key;
                EXPECT_LE(at->largest.bytes, few_mebibytes.bytes) << model.config.family().title << ", " << fit.key;
                EXPECT_TRUE(at->largest.next.refusal.empty()) << at->largest.next.refusal;
            }
        EXPECT_GT(answer(fits, "layers").training.largest.size, 1) << model.config.family().title;
    }
}

TEST(HostFit, NamesOtherLimits) {
    const std::vector<Fit> fits =
        find_fits(inspected_gpt2(), no_device, {.bytes = 6 << 20, .buffer = 200'000, .device = "toy"});
    const LargestSize& batch = answer(fits, "batch_size").training.largest;
    EXPECT_NE(batch.next.refusal.find("the largest buffer of toy has 195.3 KiB"), std::string::npos)
        << batch.next.refusal;
}

TEST(HostFit, SaysThatNothingFits) {
    try {
        find_fits(inspected_gpt2(), no_device, {.bytes = 1000});
        FAIL() << "1000 bytes hold no model";
    } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("nothing fits in 1000 B: ")) << error.what();
        EXPECT_NE(std::string(error.what()).find(" takes "), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace vkf::test
