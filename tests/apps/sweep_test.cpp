// `sweep`: its file, its statistics, and whole sweeps.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "apps/program.h"
#include "apps/sweep/sweep_file.h"
#include "apps/sweep/sweep_results.h"
#include "base/error.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

class HostSweepFile : public ::testing::Test {
protected:
    Sweep read(const std::string& contents) const {
        const fs::path path = scratch.path() / "s.toml";
        std::ofstream(path) << contents;
        return read_sweep(path);
    }
    /// Message of a refused file.
    std::string refusal(const std::string& contents) const {
        try {
            read(contents);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

    Scratch scratch;
};

TEST_F(HostSweepFile, HasEveryPointWithEverySeed) {
    const Sweep sweep = read(
        "train = \"gpt\"\nconfig = \"a.toml\"\nseeds = [2, 1]\n[options]\ndata = \"x.txt\"\nbias = true\n"
        "[grid]\nattention = [\"standard\", \"belief\"]\nlearning-rate = [1e-3, 0.5]\n");
    EXPECT_EQ(sweep.configs, std::vector<std::string>{"a.toml"});
    const std::vector<SweepRun> runs = runs_of(sweep);
    ASSERT_EQ(runs.size(), 8u);
    EXPECT_EQ(runs[0].name, "attention-standard.learning-rate-0.001.seed-2");
    EXPECT_EQ(runs[1].name, "attention-standard.learning-rate-0.5.seed-2");
    EXPECT_EQ(runs[7].name, "attention-belief.learning-rate-0.5.seed-1");
    EXPECT_EQ(point_text(*runs[7].point), "attention belief, learning-rate 0.5");
    EXPECT_EQ(options_toml(sweep, *runs[7].point),
              "data = \"x.txt\"\nbias = true\nattention = \"belief\"\nlearning-rate = 0.5\n");
}

TEST_F(HostSweepFile, RefusesByLineAndKey) {
    const std::string good = "train = \"gpt\"\n";
    EXPECT_EQ(refusal(good), "");
    const std::pair<const char*, const char*> cases[] = {
        {"seeds = [1]\n", "'train' is missing"},
        {"train = \"gpt\"\nfoo = 1\n", "s.toml:2: foo: unknown"},
        {"train = 3\n", "s.toml:1: train: wanted text"},
        {"train = \"gpt\"\nseeds = []\n", "s.toml:2: seeds: the list is empty"},
        {"train = \"gpt\"\nseeds = [1, 1]\n", "s.toml:2: seeds: 1 is there twice"},
        {"train = \"gpt\"\nseeds = [-1]\n", "s.toml:2: seeds: wanted whole numbers"},
        {"train = \"gpt\"\ngrid = 1\n", "s.toml:2: grid: unknown"},
        {"train = \"gpt\"\n[grid]\na = [[1]]\n", "s.toml:3: a: found a list"},
        {"train = \"gpt\"\n[grid]\nseed = [1]\n", "s.toml:3: seed: not for the runs of a sweep"},
        {"train = \"gpt\"\n[options]\nout-dir = \"x\"\n", "s.toml:3: out-dir: not for the runs of a sweep"},
        {"train = \"gpt\"\n[options]\nmax-minutes = 1\n", "s.toml:3: max-minutes: not for the runs of a sweep"},
        {"train = \"gpt\"\n[options]\na = 1\n[grid]\na = [1, 2]\n", "a is in [options] and in [grid]"},
        {"train = \"gpt\n", "not TOML"},
    };
    for (const auto& [contents, message] : cases)
        EXPECT_NE(refusal(contents).find(message), std::string::npos) << contents << refusal(contents);
    EXPECT_THROW(runs_of(read(good + "[grid]\na = [\"x/y\", \"x:y\"]\n")), InputError);
    std::string many = good + "[grid]\n";
    for (const char* key : {"a", "b", "c", "d", "e"}) many += std::string(key) + " = [1, 2, 3, 4, 5, 6, 7]\n";
    EXPECT_NE(refusal(many).find("more than 10000 points"), std::string::npos);
}

TEST(HostSweepResults, ComparesWithinSeeds) {
    std::vector<SweepResult> results;
    const double standard[] = {2.0, 2.5, 3.0}, belief[] = {1.9, 2.3, 2.9};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        results.push_back({"standard", seed, {{"val_loss", standard[seed]}}});
        results.push_back({"belief", seed, {{"val_loss", belief[seed]}}});
    }
    EXPECT_EQ(deciding_metric(results), "val_loss");
    const std::vector<Comparison> found = compare(results, "val_loss");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].point, "standard");
    EXPECT_FALSE(found[0].difference.has_value());
    EXPECT_NEAR(found[0].values.mean, 2.5, 1e-12);
    EXPECT_NEAR(found[0].values.deviation, 0.5, 1e-12);
    // Differences −0.1, −0.2 and −0.1: mean −0.1333, deviation 0.0577; t = 4.303 for two degrees of freedom.
    ASSERT_TRUE(found[1].difference.has_value());
    EXPECT_NEAR(found[1].difference->mean, -0.4 / 3, 1e-12);
    EXPECT_NEAR(*confidence(*found[1].difference), 4.303 * 0.1 / 3, 1e-12);
    EXPECT_FALSE(confidence({1, 0, 1}).has_value());
    EXPECT_NEAR(*confidence({1, 2, 100}), 1.96 * 0.2, 1e-12);
    results.push_back({"other", 0, {{"train_loss", 1}}});
    EXPECT_THROW(deciding_metric(results), InputError);
}

class ProgramSweep : public ::testing::Test {
protected:
    ProgramSweep() {
        std::ofstream text(scratch.path() / "text.txt");
        for (int i = 0; i < 60; ++i) text << "All is well that ends well, said number " << i * i << ".\n";
    }
    std::string path(const std::string& name) const { return (scratch.path() / name).string(); }
    std::string file(int steps, const std::string& more = "") const {
        std::ofstream(path("s.toml"))
            << "train = \"gpt\"\nseeds = [1, 2]\n[options]\ndata = \"" << path("text.txt") << "\"\nn-layer = 1\n"
            << "n-head = 1\nn-embd = 16\nblock-size = 16\nbatch-size = 4\nwarmup-iters = 1\neval-iters = 2\n"
            << "max-iters = " << steps << "\neval-interval = " << steps << "\n"
            << more << "[grid]\nattention = [\"standard\", \"belief-star\"]\n";
        return path("s.toml");
    }
    std::vector<std::string> models(const std::string& out) const {
        std::vector<std::string> found;
        for (const char* variant : {"standard", "belief-star"})
            for (const char* seed : {"1", "2"})
                found.push_back(bytes_of(fs::path(path(out)) / (std::string("attention-") + variant + ".seed-" + seed) /
                                         "model.safetensors"));
        return found;
    }

    Scratch scratch;
};

TEST_F(ProgramSweep, RunsEveryPointComparesThemAndDoesNothingTwice) {
    const std::string sweep = file(3);
    const nlohmann::json plan = document_of({"sweep", sweep, "--out-dir", path("out"), "--dry-run"});
    EXPECT_EQ(plan.size(), 4u);
    EXPECT_FALSE(fs::exists(path("out")));
    const nlohmann::json found = document_of({"sweep", sweep, "--out-dir", path("out"), "--jobs", "2"});
    EXPECT_EQ(found["metric"], "val_loss");
    ASSERT_EQ(found["points"].size(), 2u);
    EXPECT_EQ(found["points"][1]["point"], "belief-star");
    EXPECT_EQ(found["points"][1]["pairs"], 2);
    EXPECT_EQ(found["points"][1]["interval"].size(), 2u);
    for (const std::string& model : models("out")) EXPECT_FALSE(model.empty());
    EXPECT_NE(bytes_of(path("out") + "/report.html").find("belief-star (2 seeds)"), std::string::npos);
    const auto written = fs::last_write_time(path("out") + "/attention-standard.seed-1/model.safetensors");
    EXPECT_EQ(document_of({"sweep", sweep, "--out-dir", path("out")}), found);
    EXPECT_EQ(fs::last_write_time(path("out") + "/attention-standard.seed-1/model.safetensors"), written);
    for (const auto& run : document_of({"sweep", sweep, "--out-dir", path("out"), "--dry-run"}))
        EXPECT_EQ(run["state"], "done");

    const Outcome other = run_program({program_path(), "sweep", file(4), "--out-dir", path("out")}, {}, {});
    EXPECT_EQ(other.status, 2);
    EXPECT_NE(other.complaint().find("begun with other options"), std::string::npos);
}

/// The interrupt comes when the first run has ended, while the second one begins or is under way.
TEST_F(ProgramSweep, GoesOnAfterAnInterrupt) {
    const std::string sweep = file(12);
    run_vkformer({"sweep", sweep, "--out-dir", path("whole"), "--quiet"});
    const fs::path first = path("parts") + "/attention-standard.seed-1.done";
    const Outcome stopped = run_program({program_path(), "sweep", sweep, "--out-dir", path("parts"), "--quiet"},
                                        [&] { return !fs::exists(first); }, {});
    EXPECT_EQ(stopped.status, 130);
    EXPECT_FALSE(fs::exists(path("parts") + "/attention-belief-star.seed-2.done"));
    run_vkformer({"sweep", sweep, "--out-dir", path("parts"), "--quiet"});
    EXPECT_EQ(models("whole"), models("parts"));
}

TEST_F(ProgramSweep, RefusesASeedOfItsOwn) {
    const Outcome outcome =
        run_program({program_path(), "sweep", file(3), "--out-dir", path("out"), "--seed", "3"}, {}, {});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(ProgramSweep, NamesARunThatFails) {
    const Outcome outcome = run_program(
        {program_path(), "sweep", file(3, "momentum = 0.5\nno-such-option = 1\n"), "--out-dir", path("out")}, {}, {});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.complaint().find("4 of 4 runs failed; the first: attention-standard.seed-1: "), std::string::npos)
        << outcome.complaint();
    EXPECT_NE(outcome.complaint().find("no-such-option"), std::string::npos) << outcome.complaint();
    EXPECT_TRUE(outcome.output.empty());
    run_vkformer({"sweep", file(3), "--out-dir", path("out"), "--quiet"});  // what never began may change
}

TEST_F(ProgramSweep, LeavesADirectoryOfOthersAlone) {
    scratch.file("out/report.html", "mine");
    const Outcome outcome = run_program({program_path(), "sweep", file(3), "--out-dir", path("out")}, {}, {});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.complaint().find("is no sweep's directory"), std::string::npos) << outcome.complaint();
    EXPECT_EQ(bytes_of(path("out") + "/report.html"), "mine");
}

}  // namespace
}  // namespace vkf::test
