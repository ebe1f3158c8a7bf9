// Choice of kernels by trials: candidates that pass, and the treatment of those that fail.
#include "program/autotuner.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files/os_file.h"
#include "program/twice.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

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

TEST(DeviceAutotuner, TakesWhatIsMadeForCpusWhereNothingElseIsRight) {
    const Asked asked({"subgroup", "coopmat wrong", "tile missing"}, {});
    EXPECT_EQ(asked.y, doubled);
    EXPECT_NE(asked.told.find("tile missing is left out"), std::string::npos) << "it was not tried first";
}

TEST(DeviceAutotuner, LeavesOutWhatIsAThousandTimesTooSlow) {
    const Folder folder;
    const Asked asked({"coopmat slow", "tile"}, {.cache = place(folder.path)});
    EXPECT_EQ(asked.y, doubled);
    EXPECT_NE(asked.told.find("kernel coopmat slow is left out: it takes "), std::string::npos) << asked.told;
    const TuningCache kept = read_tuning_cache(shared_device().info(), place(folder.path));
    ASSERT_EQ(kept.chosen.size(), 1u);
    EXPECT_FALSE(kept.chosen.begin()->second.gflops.contains("coopmat slow"));
    EXPECT_TRUE(kept.refused.at("twice").contains("coopmat slow"));
}

/// The kernel ends, but later than the device's patience; after that, nothing of the device is used any more.
TEST(DeviceAutotuner, LeavesOutAtTheNextStartWhatNeverEnds) {
    const Folder folder;
    const std::vector<std::string> list{"coopmat endless", "tile"};
    {
        Device device(wanted_device(), pretend);
        const Asked asked(list, {.cache = place(folder.path), .patience_s = 0.02}, "twice", device);
        EXPECT_TRUE(asked.hung);
        EXPECT_TRUE(asked.error.starts_with("kernel coopmat endless: " + device.info().name + " hangs: "))
            << asked.error;
        EXPECT_TRUE(asked.error.ends_with("(the next run leaves it out)")) << asked.error;
        EXPECT_THROW(device.wait_idle(), DeviceHang) << "nobody waits for it again";
    }
    const Asked next(list, {.cache = place(folder.path)});
    EXPECT_EQ(next.y, doubled);
    EXPECT_EQ(read_tuning_cache(shared_device().info(), place(folder.path)).refused.at("twice").at("coopmat endless"),
              "it never ended");
    for (const auto& file : fs::directory_iterator(folder.path)) EXPECT_EQ(file.path().extension(), ".json");
}

/// A run that was killed in the middle, with its driver or the whole machine, wrote only its journal.
TEST(DeviceAutotuner, LeavesOutWhatAJournalWasLeftWith) {
    const Folder folder;
    const auto journal = [&](const char* process) {
        return fs::path(tuning_cache_file(shared_device().info(), place(folder.path)).string() + '.' + process);
    };
    const fs::path left = journal("999-1.trying"), over = journal("999-2.trying"), alive = journal("999-3.trying");
    std::ofstream(left) << "twice\ttile\n\ntwice\tcoopmat wild\n";
    std::ofstream(over) << "twice\ttile\n\n";
    std::ofstream(alive) << "twice\ttile\n";
    const os::File held = os::File::locked(alive);
    ASSERT_TRUE(held.valid());
    const Asked asked({"coopmat wild", "tile"}, {.cache = place(folder.path)});
    EXPECT_EQ(asked.y, doubled);
    EXPECT_EQ(asked.told.find("kernel tile"), std::string::npos) << asked.told;
    EXPECT_NE(asked.told.find("kernel coopmat wild is left out: a run that tried it for twice never ended"),
              std::string::npos);
    const Asked again({"coopmat wild", "tile", "tile 64"}, {.cache = place(folder.path)});
    EXPECT_EQ(again.told.find("coopmat wild"), std::string::npos) << "it is said once: " << again.told;
    const TuningCache kept = read_tuning_cache(shared_device().info(), place(folder.path));
    for (const auto& [kind, result] : kept.chosen) EXPECT_FALSE(result.gflops.contains("coopmat wild")) << kind;
    EXPECT_FALSE(fs::exists(left) || fs::exists(over));
    EXPECT_TRUE(fs::exists(alive));
}

TEST(DeviceAutotuner, GoesOnInTheNextRunWhenTheBudgetIsSpent) {
    const Folder folder;
    const Asked asked({"coopmat wrong", "tile 64", "tile 128"}, {.cache = place(folder.path), .budget_s = 0});
    EXPECT_EQ(asked.y, doubled);
    EXPECT_NE(asked.told.find("are over: for 1 of 1 computations"), std::string::npos) << asked.told;
    EXPECT_TRUE(read_tuning_cache(shared_device().info(), place(folder.path)).chosen.empty());
    const Asked next({"coopmat wrong", "tile 64", "tile 128"}, {.cache = place(folder.path)});
    EXPECT_EQ(next.y, doubled);
    EXPECT_EQ(read_tuning_cache(shared_device().info(), place(folder.path)).chosen.size(), 1u);
}

TEST(DeviceAutotuner, GivesUpBetweenTrialsAndLeavesNothingOut) {
    const Folder folder;
    int asked = 0;
    const std::vector<std::string> list{"tile 64", "tile 128"};
    EXPECT_THROW(Asked(list, {.cache = place(folder.path), .interrupted = [&] { return ++asked > 2; }}),
                 TuningInterrupted);
    const Asked next(list, {.cache = place(folder.path)});
    EXPECT_EQ(next.y, doubled);
    EXPECT_EQ(next.told.find("left out"), std::string::npos) << next.told;
    EXPECT_TRUE(read_tuning_cache(shared_device().info(), place(folder.path)).refused.empty());
}

TEST(DeviceAutotuner, SolvesAGraphsProblemsTogether) {
    std::vector<std::string> shown;
    DeviceAutotuner tuner(
        shared_device(), {.progress = [&](std::string_view title, std::string_view, std::size_t done, std::size_t all) {
            shown.push_back(text(title, ' ', done, '/', all));
        }});
    DeviceTraits lowering = traits(shared_device());
    lowering.cpu = false;
    lowering.autotuner = &tuner;
    Graph graph;
    Tensor x = graph.input("x", {DType::f32, {3}});
    for (const char* family : {"one", "two", "one"})
        x = add_one(graph, TwiceOp({"tile", "coopmat wrong"}, family), {x});
    graph.output("y", x);
    State state(shared_device());
    Program program(shared_device(), graph, state, {.traits = lowering});
    program.write("x", std::vector{1.0f, 2.0f, 3.0f});
    program.run();
    EXPECT_EQ(program.read("y"), (std::vector<float>{8, 16, 24}));
    ASSERT_GE(shown.size(), 2u);
    EXPECT_EQ(shown[shown.size() - 2], "trying out kernels 1/2");
    EXPECT_EQ(shown.back(), "trying out kernels 2/2");
}

TEST(DeviceAutotuner, TrustsTheModelOnACpu) {
    if (shared_device().info().kind != DeviceKind::cpu) GTEST_SKIP() << "the device is no CPU";
    DeviceAutotuner tuner(shared_device(), {});
    const auto never = []() -> std::unique_ptr<TuningCase> { throw Error("tried out"); };
    const TuningProblem anything{"anything", "anything", {"subgroup", "tile"}, never, never};
    EXPECT_EQ(tuner.choose(traits(shared_device()), anything), 0u);
}

}  // namespace
}  // namespace vkf::test
