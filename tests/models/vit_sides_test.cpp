// A LocalViT for images of 224 pixels that sees smaller images, against PyTorch's results in double
// (tests/golden/make_vit_sides_golden.py).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/safetensors.h"
#include "device_fixture.h"
#include "golden.h"
#include "models/families/position_grid.h"
#include "models/files/config_json.h"
#include "models/files/resized_positions.h"
#include "models/files/weights.h"
#include "models/image_model.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "program/program.h"
#include "scratch.h"

namespace vkf::test {
namespace {

const std::filesystem::path sides_folder = golden / "vit-sides";
constexpr std::int64_t sides_batch = 2;

Safetensors case_of(std::int64_t side) {
    return Safetensors::open(sides_folder / (std::to_string(side) + ".safetensors"));
}

/// The generator's pixel(k) for k = 0, 1, …
std::vector<float> pixels(std::int64_t count) {
    std::vector<float> made;
    for (std::int64_t k = 0; k < count; ++k) {
        std::uint32_t h = static_cast<std::uint32_t>(k) * 0x9E3779B1u;
        h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
        h = (h ^ (h >> 13)) * 0xC2B2AE35u;
        h = h ^ (h >> 16);
        made.push_back(static_cast<float>(static_cast<double>(h) / 0x1p31 - 1));
    }
    return made;
}

/// Loss and gradients of a model for the images of a case, as a program that has run.
struct SidesRun {
    Graph graph;
    Parameters parameters;
    State state{shared_device()};
    std::optional<Program> program;

    /// `load` writes the weights.
    SidesRun(const ModelConfig& model, std::int64_t side, const Safetensors& expected, const auto& load) {
        const Scope scope(graph, parameters);
        const Tensor loss = image_loss(scope, model, sides_batch, true, side);
        graph.output("loss", loss);
        const std::vector<Parameter> trained = parameters.trained();
        std::vector<Tensor> wrt;
        for (const Parameter& p : trained) wrt.push_back(p.tensor);
        const std::vector<Tensor> d = gradients(loss, wrt);
        for (std::size_t i = 0; i < wrt.size(); ++i) graph.output("grad." + trained[i].name, contiguous(d[i]));
        program.emplace(shared_device(), graph, state);
        load(*this);
        const std::int64_t classes = model.size(Dimension::classes);
        std::vector<float> targets(static_cast<std::size_t>(sides_batch * classes));
        const std::vector<std::int32_t> labels = integers(expected, "labels");
        for (std::size_t b = 0; b < labels.size(); ++b)
            targets[b * static_cast<std::size_t>(classes) + static_cast<std::size_t>(labels[b])] = 1;
        program->write("images", pixels(image_type(model, sides_batch, side).shape.elements()));
        program->write("targets", targets);
        program->run();
    }
};

class DeviceVitSides : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(DeviceVitSides, ALargerImagesModelEqualsPyTorchs) {
    const std::int64_t side = GetParam();
    const Safetensors expected = case_of(side);
    const ModelConfig model = read_config_json(sides_folder / "config.json");
    const SidesRun run(model, side, expected, [](SidesRun& r) {
        load_weights(sides_folder / "model.safetensors", r.parameters.list(), r.state);
    });
    for (const Parameter& p : run.parameters.list()) EXPECT_TRUE(expected.contains("grad." + p.name)) << p.name;
    expect_golden(expected, [&](const std::string& name) { return run.program->read(name); });
}

/// The model for images of that side alone, with a table of positions of its own that has been resampled when it was
/// loaded.
TEST_P(DeviceVitSides, AModelOfItsOwnSideEqualsPyTorchs) {
    const std::int64_t side = GetParam();
    const Safetensors expected = case_of(side);
    ModelConfig model = read_config_json(sides_folder / "config.json");
    model.set(Dimension::image_size, side);
    const SidesRun run(model, 0, expected, [&](SidesRun& r) { load_for_size(sides_folder, model, r.state); });
    EXPECT_LE(difference(run.state.read("pos_embed"), expected.read_f32("resampled")), 1e-7);
    EXPECT_LE(difference(run.program->read("logits"), expected.read_f32("logits")), 2e-6);
    EXPECT_LE(difference(run.program->read("loss"), expected.read_f32("loss")), 2e-6);
    const double limit = tolerance(static_cast<double>(expected.read_f32("rounding")[0]));
    for (const Parameter& p : run.parameters.trained()) {
        const std::string name = "grad." + p.name;
        const std::vector<float> wanted = expected.read_f32(p.name == "pos_embed" ? "resampled.grad" : name);
        EXPECT_LE(difference(run.program->read(name), wanted, 1e-4 * length(expected.read_f32("grad.head.weight"))),
                  limit)
            << name;
    }
}

TEST_P(DeviceVitSides, TheTableInAGraphEqualsPyTorchs) {
    const std::int64_t side = GetParam();
    const Safetensors expected = case_of(side), weights = Safetensors::open(sides_folder / "model.safetensors");
    Graph graph;
    const TensorType type{DType::f32, Shape(weights.at("pos_embed").shape)};
    graph.output("resampled", scale(resized_positions(graph.input("table", type), side / 16), 1.0f));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    program.write("table", weights.read_f32("pos_embed"));
    program.run();
    const std::vector<float> found = program.read("resampled"), wanted = expected.read_f32("resampled");
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-6) << i;
}

INSTANTIATE_TEST_SUITE_P(Sides, DeviceVitSides, ::testing::Values(32, 96, 224));

TEST(HostVitSides, ASideThatThePatchDoesNotDivideIsRefused) {
    const ModelConfig model = read_config_json(sides_folder / "config.json");
    Graph graph;
    Parameters parameters;
    expect_holds(complaint([&] { image_loss(Scope(graph, parameters), model, 2, false, 40); }),
                 "image_size 40 is not divisible by patch_size 16");
}

/// U D P, where D and U resample to the smaller grid and back, by the functions that other tests compare with PyTorch.
TEST(DeviceVitFrozen, PositionsLoseWhatASmallerGridCannotHold) {
    ModelConfig model = read_config_json(sides_folder / "config.json");
    for (const bool frozen : {true, false}) {
        for (const Field& field : model.fields())
            if (field.key == "frozen_embeddings") std::get<Choice>(field.value).set(frozen ? "positions" : "none");
        Graph graph;
        Parameters parameters;
        graph.output("loss", image_loss(Scope(graph, parameters), model, 1, false, 64));
        EXPECT_EQ(parameters.frozen().size(), frozen ? 1u : 0u);
        State state(shared_device());
        state.reserve(graph);
        load_weights(sides_folder / "model.safetensors", parameters.list(), state);
        const std::vector<float> before = state.read("pos_embed"), head = state.read("head.weight");
        reduce_frozen_positions(parameters, model, 64, state);
        EXPECT_EQ(state.read("head.weight"), head);
        const std::vector<float> after = state.read("pos_embed");
        EXPECT_EQ(after, frozen ? resized_positions(resized_positions(before, 6, 4), 6, 14) : before);
        EXPECT_EQ(frozen, after != before);
    }
}

}  // namespace
}  // namespace vkf::test
