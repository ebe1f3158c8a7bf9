// Choosing kernels by trying them: which candidates pass, what is remembered, and what becomes of a damaged memory.
#include "program/autotuner.h"

#include <gtest/gtest.h>

#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/arithmetic.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/tuning.h"
#include "program/program.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

/// A folder of the test's own.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "tuner.XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    Folder(const Folder&) = delete;
    ~Folder() { fs::remove_all(path); }
    fs::path path;
};

/// Files there, of all kernels that are tuned.
TuningCachePlace place(const fs::path& folder) {
    return {folder, tuned_kernels()};
}

/// y = 2 x by kernels of which not all do that. Constants and arguments decide what goes wrong.
class TwiceOp : public Op {
public:
    TwiceOp(std::vector<std::string> candidates, std::string family)
        : candidates_(std::move(candidates)), family_(std::move(family)) {}

    std::string_view name() const override { return "twice"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[0]}; }
    void lower(Lowering& to) const override {
        const std::string how = candidates_[to.device.autotuner->choose(to.device, problem())];
        const std::uint32_t count = extent(to.in[0].elements());
        const auto dispatch = [&](ElementStep::Kind kind, std::uint32_t elements, float number) {
            Dispatch made{.kernel = how == "tile missing" ? "nonesuch" : "elementwise",
                          .constants = {{"GROUP", to.device.subgroup_size},
                                        {"EACH", 1u},
                                        {"INPUTS", kind == ElementStep::Kind::fill ? 0u : 1u},
                                        {"STEP0", static_cast<std::uint32_t>(kind)}},
                          .args = {{"x0", kind == ElementStep::Kind::fill ? Tensor() : to.in[0]},
                                   {"y", to.out[0]},
                                   {"count", elements},
                                   {"per_group", elements},
                                   {"w0", std::bit_cast<std::uint32_t>(number)}},
                          .flops = 1};
            for (const char* name : {"x1", "x2", "x3", "x4", "x5", "seed"}) made.args.emplace_back(name, ArgValue{});
            for (const char* name : {"div", "mod", "w1", "w2", "w3", "w4", "w5"}) made.args.emplace_back(name, 0u);
            to.dispatch(std::move(made));
        };
        if (how == "coopmat greedy") dispatch(ElementStep::Kind::fill, count + 16, 5.0f);
        dispatch(ElementStep::Kind::scale, count, how == "coopmat wrong" ? 0.0f : 2.0f);
    }

private:
    TuningProblem problem() const {
        const auto made = [list = candidates_, family = family_] {
            auto of = std::make_unique<TuningCase>();
            const Tensor x = scale(of->graph.input("x", {DType::f32, {100}}), 1.0f);
            of->graph.output("y", add_one(of->graph, TwiceOp(list, family), {x}));
            of->op = "twice";
            of->inputs["x"] = std::vector<float>(100, 3.0f);
            for (std::size_t i = 0; i < 100; ++i) of->expected.at.push_back(i);
            of->expected.values.assign(100, 6.0);
            of->expected.bounds.assign(100, 0.0);
            return of;
        };
        return {family_, family_, candidates_, made, made};
    }

    std::vector<std::string> candidates_;
    std::string family_;
};

/// What a tuner on the test's device chooses, asked as for a GPU, and what it tells.
struct Asked {
    std::vector<float> y;
    std::string error;
    std::string told;

    Asked(const std::vector<std::string>& candidates, AutotunerOptions options, const std::string& family = "twice") {
        options.tell = [this](const std::string& line) { told += line + '\n'; };
        Device& device = shared_device();
        try {
            DeviceAutotuner tuner(device, options);
            DeviceTraits lowering = traits(device);
            lowering.cpu = false;
            lowering.autotuner = &tuner;
            Graph graph;
            graph.output("y", add_one(graph, TwiceOp(candidates, family), {graph.input("x", {DType::f32, {3}})}));
            State state(device);
            Program program(device, graph, state, {.traits = lowering});
            program.write("x", std::vector{1.0f, 2.0f, 3.0f});
            program.run();
            y = program.read("y");
        } catch (const Error& caught) {
            error = caught.what();
        }
    }
};

const std::vector<float> doubled{2, 4, 6};

TEST(DeviceAutotuner, LeavesOutWhatIsWrong) {
    const Asked asked({"coopmat wrong", "tile missing", "coopmat greedy", "tile", "subgroup"}, {});
    EXPECT_EQ(asked.error, "");
    EXPECT_EQ(asked.y, doubled);
    EXPECT_NE(asked.told.find("kernel coopmat wrong is left out: element 0 is 0, wanted 6 to within 0\n"),
              std::string::npos);
    EXPECT_NE(asked.told.find("kernel tile missing is left out: "), std::string::npos);
    EXPECT_NE(asked.told.find("kernel coopmat greedy is left out: it writes where it must not"), std::string::npos);
    EXPECT_EQ(asked.told.find("kernel tile is"), std::string::npos) << asked.told;
}

TEST(DeviceAutotuner, SaysSoIfNothingIsRight) {
    const Asked asked({"coopmat wrong", "tile missing"}, {});
    EXPECT_TRUE(asked.error.starts_with("no kernel computes twice right on ")) << asked.error;
    EXPECT_NE(asked.error.find("tile missing"), std::string::npos);
}

TEST(DeviceAutotuner, TakesOnlyTheImplementationThatIsAskedFor) {
    const Asked tile({"subgroup", "coopmat wrong", "tile"}, {.implementation = "tile"});
    EXPECT_EQ(tile.y, doubled);
    EXPECT_EQ(tile.told.find("left out"), std::string::npos) << "the others are not even tried";
    const Asked missing({"subgroup", "tile missing"}, {.implementation = "tile"});
    EXPECT_TRUE(missing.error.starts_with("no kernel computes twice right")) << missing.error;
    const Asked small({"coopmat wrong", "subgroup"}, {.implementation = "tile"});
    EXPECT_EQ(small.y, doubled) << "a computation too small for it is done by another";
    EXPECT_EQ(small.told.find("left out"), std::string::npos) << "but not by what rounds: " << small.told;
    const Asked unknown({"subgroup"}, {.implementation = "abacus"});
    EXPECT_NE(unknown.error.find("abacus"), std::string::npos);
    if (!shared_device().info().cooperative_matrix2) {
        const Asked lacking({"subgroup"}, {.implementation = "coopmat2"});
        EXPECT_NE(lacking.error.find("has no VK_NV_cooperative_matrix2; it can do subgroup, tile"), std::string::npos);
    }
}

TEST(DeviceAutotuner, TrustsTheModelOnACpu) {
    if (shared_device().info().kind != DeviceKind::cpu) GTEST_SKIP() << "the device is no CPU";
    DeviceAutotuner tuner(shared_device(), {});
    const auto never = []() -> std::unique_ptr<TuningCase> { throw Error("tried out"); };
    const TuningProblem anything{"anything", "anything", {"subgroup", "tile"}, never, never};
    EXPECT_EQ(tuner.choose(traits(shared_device()), anything), 0u);
}

TEST(DeviceAutotuner, RemembersInAFile) {
    const Folder folder;
    const TuningCachePlace made = place(folder.path / "made" / "for us");
    const std::vector<std::string> list{"coopmat wrong", "tile", "subgroup"};
    const Asked first(list, {.cache = made});
    EXPECT_EQ(first.y, doubled);
    EXPECT_NE(first.told, "");
    const Asked second(list, {.cache = made});
    EXPECT_EQ(second.y, doubled);
    EXPECT_EQ(second.told, "") << "nothing is tried again";
    const TuningCache kept = read_tuning_cache(shared_device().info(), made);
    ASSERT_EQ(kept.chosen.size(), 1u);
    EXPECT_EQ(kept.chosen.begin()->first, "twice: coopmat wrong, tile, subgroup");
    EXPECT_EQ(kept.chosen.begin()->second.gflops.size(), 2u);
    using Reasons = std::map<std::string, std::string>;
    ASSERT_EQ(kept.refused.size(), 1u);
    EXPECT_EQ(kept.refused.at("twice"), (Reasons{{"coopmat wrong", "element 0 is 0, wanted 6 to within 0"}}));
    const Asked other({"coopmat wrong", "subgroup"}, {.cache = made});
    EXPECT_EQ(other.told.find("coopmat"), std::string::npos) << "refused before: " << other.told;
}

TEST(DeviceAutotuner, WhatIsRefusedForOneFamilyIsTriedForAnother) {
    const Folder folder;
    const AutotunerOptions options{.cache = place(folder.path)};
    const std::string left_out = "kernel coopmat wrong is left out";
    const std::vector<std::string> list{"coopmat wrong", "tile"}, fewer{"coopmat wrong", "subgroup"};
    EXPECT_NE(Asked(list, options, "twice forward").told.find(left_out), std::string::npos);
    EXPECT_EQ(Asked(fewer, options, "twice forward").told.find(left_out), std::string::npos);
    EXPECT_NE(Asked(list, options, "twice backward").told.find(left_out), std::string::npos);
    const TuningCache kept = read_tuning_cache(shared_device().info(), *options.cache);
    EXPECT_EQ(kept.refused.size(), 2u);

    // A rumour about another family's kernel of the same name leaves this one its choice.
    const Folder other;
    TuningCache rumour;
    rumour.refused["twice backward"]["tile"] = "a rumour";
    write_tuning_cache(shared_device().info(), place(other.path), rumour);
    Asked({"tile", "subgroup"}, {.cache = place(other.path)}, "twice forward");
    const TuningCache found = read_tuning_cache(shared_device().info(), place(other.path));
    ASSERT_EQ(found.chosen.size(), 1u);
    EXPECT_TRUE(found.chosen.begin()->second.gflops.contains("tile")) << "it was timed";
}

TEST(DeviceAutotuner, MeasuresAnewWhatCannotBeRead) {
    const DeviceInfo& info = shared_device().info();
    for (const char* content : {"", "{", "[]", "null", "{\"origin\": 1}", "\xff\xfe", "{\"chosen\": {\"twice\": 3}}"}) {
        const Folder folder;
        std::ofstream(tuning_cache_file(info, place(folder.path))) << content;
        const Asked asked({"tile", "subgroup"}, {.cache = place(folder.path)});
        EXPECT_EQ(asked.y, doubled) << content;
        EXPECT_EQ(read_tuning_cache(info, place(folder.path)).chosen.size(), 1u) << "replaced: " << content;
    }
    {
        const Folder folder;
        fs::create_directory(tuning_cache_file(info, place(folder.path)));
        const Asked asked({"tile", "subgroup"}, {.cache = place(folder.path)});
        EXPECT_EQ(asked.y, doubled);
        EXPECT_NE(asked.told.find("kernels are chosen anew"), std::string::npos);
    }
    {
        const Folder folder;
        std::ofstream(folder.path / "file") << "in the way";
        const Asked asked({"tile", "subgroup"}, {.cache = place(folder.path / "file" / "below")});
        EXPECT_EQ(asked.y, doubled) << "what cannot be written is forgotten";
    }
    {
        const Folder folder;  // nobody is left
        const std::map<std::string, std::string> all{{"tile", "a rumour"}, {"subgroup", "another"}};
        write_tuning_cache(info, place(folder.path), {.chosen = {}, .refused = {{"twice", all}}});
        EXPECT_EQ(Asked({"tile", "subgroup"}, {.cache = place(folder.path)}).y, doubled);
    }
    const Folder folder;  // an answer that is none of the candidates
    write_tuning_cache(info, place(folder.path),
                       {.chosen = {{"twice: tile, lanes", {"coopmat wrong", {}}}}, .refused = {}});
    EXPECT_EQ(Asked({"tile", "subgroup"}, {.cache = place(folder.path)}).y, doubled);
}

TEST(DeviceTuningCache, BelongsToOneDeviceDriverAndBuild) {
    const Folder folder;
    const DeviceInfo& info = shared_device().info();
    const auto keep = [&](const char* kind, const char* kernel) {
        write_tuning_cache(info, place(folder.path), {.chosen = {{kind, {kernel, {{kernel, 1.5}}}}}, .refused = {}});
    };
    keep("one", "tile");
    keep("two", "subgroup");  // as another process would
    keep("one", "subgroup");  // the last one to know
    const TuningCache both = read_tuning_cache(info, place(folder.path));
    ASSERT_EQ(both.chosen.size(), 2u);
    EXPECT_EQ(both.chosen.at("one").kernel, "subgroup");
    EXPECT_EQ(both.chosen.at("two").gflops.at("subgroup"), 1.5);

    DeviceInfo newer = info;
    newer.driver += " and a half";
    EXPECT_TRUE(read_tuning_cache(newer, place(folder.path)).chosen.empty());
    DeviceInfo narrower = info;
    narrower.subgroup_size *= 2;
    EXPECT_TRUE(read_tuning_cache(narrower, place(folder.path)).chosen.empty());
    // The same file, but what it says of itself is another driver's or an older build's.
    const fs::path path = tuning_cache_file(info, place(folder.path));
    const std::string words = read_text(path), mark = "\"kernels\": ";
    const std::size_t digit = words.find(mark) + mark.size();
    std::string older = words;
    older[digit] = words[digit] == '1' ? '2' : '1';
    write_atomically(path, older);
    EXPECT_TRUE(read_tuning_cache(info, place(folder.path)).chosen.empty());
    write_atomically(path, words);
    TuningCachePlace rebuilt = place(folder.path);
    EXPECT_EQ(read_tuning_cache(info, rebuilt).chosen.size(), 2u);
    for (const char* tuned : {"matmul_tile", "attention_tile_backward_kv"}) {  // as if its shader had changed
        std::ranges::replace(rebuilt.kernels = tuned_kernels(), std::string(tuned), std::string("copy"));
        EXPECT_TRUE(read_tuning_cache(info, rebuilt).chosen.empty()) << tuned;
    }
    DeviceInfo larger = info;
    ++larger.compute_units.count;
    EXPECT_TRUE(read_tuning_cache(larger, place(folder.path)).chosen.empty());
    write_atomically(path, words.substr(0, words.size() / 2));
    EXPECT_THROW(read_tuning_cache(info, place(folder.path)), InputError);
}

/// Takes one candidate, untried.
class Named : public Autotuner {
public:
    explicit Named(std::string name) : name_(std::move(name)) {}
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        const auto found = std::ranges::find(problem.candidates, name_);
        require(found != problem.candidates.end(), "there is no candidate ", name_);
        return static_cast<std::size_t>(found - problem.candidates.begin());
    }

private:
    std::string name_;
};

/// y = op(a) · op(b) as for a GPU; k is cut.
std::vector<float> product(Autotuner& autotuner, bool transpose_a, bool transpose_b, std::int64_t odd,
                           DeviceTraits lowering = traits(shared_device())) {
    Device& device = shared_device();
    lowering.cpu = false;
    lowering.autotuner = &autotuner;
    lowering.flops_per_second = 1e9;  // small timing cases
    const std::int64_t m = 70 + odd, n = 66 + odd, k = 600 + odd;
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, transpose_a ? Shape{k, m} : Shape{m, k}});
    const Tensor b = graph.input("b", {DType::f32, transpose_b ? Shape{n, k} : Shape{k, n}});
    graph.output("y", matmul(a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b}));
    State state(device);
    Program program(device, graph, state, {.traits = lowering});
    std::vector<float> left(static_cast<std::size_t>(m * k)), right(static_cast<std::size_t>(k * n));
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = std::sin(static_cast<float>(i));
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = std::cos(static_cast<float>(i));
    program.write("a", left);
    program.write("b", right);
    program.run();
    return program.read("y");
}

TEST(DeviceAutotuner, AllImplementationsInFp32GiveTheSameBits) {
    const auto by = [](const std::string& name, bool transpose_a, std::int64_t odd) {
        Named named(name);
        return product(named, transpose_a, !transpose_a, odd);
    };
    for (const bool transpose_a : {false, true}) {
        const std::vector<float> lanes = by("subgroup", transpose_a, transpose_a);
        std::vector<std::string> tiles{"tile 64"};
        if (shared_device().info().max_group >= 256) tiles.emplace_back("tile 128");  // else it is not offered
        for (const std::string& name : tiles)
            EXPECT_EQ(std::memcmp(lanes.data(), by(name, transpose_a, transpose_a).data(), lanes.size() * 4), 0)
                << name << (transpose_a ? " TN odd" : " NT");
    }
}

TEST(DeviceAutotuner, FindsAllKernelsOfProductsRight) {
    std::string told;
    DeviceAutotuner tuner(shared_device(), {.tell = [&](const std::string& line) { told += line; }});
    product(tuner, false, false, 0);
    EXPECT_NE(told.find("trying out kernels"), std::string::npos);
    EXPECT_EQ(told.find("left out"), std::string::npos) << told;
}

TEST(DeviceCooperativeAutotuner, FindsMatricesRight) {
    const DeviceTraits has = traits_with_matrices(shared_device());
    if (!has.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    const Folder folder;
    std::string told;
    DeviceAutotuner tuner(shared_device(), {.implementation = "coopmat",
                                            .cache = place(folder.path),
                                            .tell = [&](const std::string& line) { told += line; }});
    product(tuner, false, true, 1, has);
    EXPECT_EQ(told.find("left out"), std::string::npos) << told;
    const TuningCache kept = read_tuning_cache(shared_device().info(), place(folder.path));
    ASSERT_EQ(kept.chosen.size(), 1u);
    EXPECT_TRUE(kept.chosen.begin()->second.kernel.starts_with("coopmat ")) << kept.chosen.begin()->second.kernel;
}

TEST(HostRounding, OfProductsGoesWithTheActivations) {
    Graph graph;
    const auto may = [&](Format activations, bool differentiated, MatrixElement to) {
        graph.activations = activations;
        graph.differentiated = differentiated;
        return may_round(graph, to);
    };
    for (const bool gradients : {false, true}) {
        EXPECT_FALSE(may(Format::f32, gradients, MatrixElement::fp16));
        EXPECT_FALSE(may(Format::f32, gradients, MatrixElement::bf16));
        EXPECT_TRUE(may(Format::bf16, gradients, MatrixElement::bf16));
        EXPECT_TRUE(may(Format::f16, gradients, MatrixElement::fp16));
        EXPECT_FALSE(may(Format::f16, gradients, MatrixElement::bf16));
        EXPECT_EQ(may(Format::bf16, gradients, MatrixElement::fp16), !gradients);
    }
}

}  // namespace
}  // namespace vkf::test
