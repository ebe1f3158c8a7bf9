// Detects that a run no longer improves, and chooses the checkpoints to keep.

#include "models/train/run_progress.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files/file.h"
#include "models/files/numbered_checkpoints.h"
#include "scratch.h"

namespace vkf::test {
namespace {

TEST(HostRunProgress, CountsEvaluationsSinceTheBest) {
    RunProgress at;
    const RunLimits limits{.early_stopping_patience = 2};
    const std::vector<double> scores{3, 2, 2, 1, 1.5, 1};
    const std::vector<std::int64_t> waited{0, 0, 1, 0, 1, 2};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        at.step = static_cast<std::int64_t>(10 * i);
        EXPECT_FALSE(limits.stops_early(at));
        EXPECT_EQ(at.take_score(scores[i]), waited[i] == 0) << i;
        EXPECT_EQ(at.without_improvement, waited[i]) << i;
        EXPECT_EQ(at.evaluated, at.step);
    }
    EXPECT_EQ(at.best, 1);
    EXPECT_TRUE(limits.stops_early(at));
    EXPECT_FALSE(RunLimits{}.stops_early(at));
    EXPECT_FALSE(RunLimits{.early_stopping_patience = 3}.stops_early(at));
}

class HostNumberedCheckpoints : public ::testing::Test {
protected:
    std::vector<std::string> kept() const {
        std::vector<std::string> names;
        for (const auto& path : numbered_checkpoints(scratch_.path())) names.push_back(path.filename().string());
        return names;
    }
    bool keep(std::int64_t step, std::int64_t limit, const std::string& name = "ours") {
        Manifest manifest;
        ManagedDirectory run = ManagedDirectory::claim(scratch_.path());
        run.publish([&](const std::filesystem::path& folder) {
            write_atomically(folder / "config.json", "c");
            write_atomically(folder / "model.safetensors", std::to_string(step));
            manifest = make_manifest(folder, name, step, "config.json");
            write_atomically(folder / manifest_file, manifest_text(manifest));
        });
        return keep_numbered(run, manifest, limit);
    }
    std::string model_in(const char* folder) const { return read_text(scratch_.path() / folder / "model.safetensors"); }

    Scratch scratch_;
};

TEST_F(HostNumberedCheckpoints, AreTheLatestByTheirNumbers) {
    for (const char* other : {"checkpoint-x/f", "checkpoint-/f", "checkpoint-07/f", "checkpoint-7b/f", "best/f"})
        scratch_.file(other, "");
    scratch_.file("checkpoint-3", "a file");
    for (const std::int64_t step : {8, 9, 10, 100}) keep(step, 2);
    EXPECT_EQ(kept(), (std::vector<std::string>{"checkpoint-10", "checkpoint-100"}));
    EXPECT_EQ(model_in("checkpoint-10"), "10");
    EXPECT_EQ(model_in("checkpoint-100"), "100");
    EXPECT_TRUE(verify_checkpoint(scratch_.path() / "checkpoint-100"));
    EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "checkpoint-7b" / "f"));
    keep(100, 2);  // once more
    EXPECT_EQ(kept(), (std::vector<std::string>{"checkpoint-10", "checkpoint-100"}));
}

TEST_F(HostNumberedCheckpoints, KeepWhatOthersPutThere) {
    for (const std::int64_t step : {1, 2}) keep(step, 2);
    scratch_.file("checkpoint-1/notes.txt", "mine");
    scratch_.file("checkpoint-2/metrics.jsonl", "a run that goes on there");
    for (const std::int64_t step : {3, 4}) keep(step, 1);
    EXPECT_EQ(kept(), (std::vector<std::string>{"checkpoint-1", "checkpoint-2", "checkpoint-4"}));
    EXPECT_EQ(read_text(scratch_.path() / "checkpoint-1" / "notes.txt"), "mine");
    EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "checkpoint-1" / "model.safetensors"));
    EXPECT_EQ(read_text(scratch_.path() / "checkpoint-2" / "model.safetensors"), "2");
}

TEST_F(HostNumberedCheckpoints, OthersAreNeitherCountedNorRemovedNorReplaced) {
    keep(1, 1, "another run");
    scratch_.file("checkpoint-2/model.safetensors", "no manifest");
    scratch_.file("checkpoint-999999/config.json", "{}");
    EXPECT_TRUE(keep(3, 2));
    EXPECT_TRUE(keep(4, 2));
    EXPECT_FALSE(keep(1, 2));
    EXPECT_FALSE(keep(2, 2));
    EXPECT_EQ(kept(), (std::vector<std::string>{"checkpoint-1", "checkpoint-2", "checkpoint-3", "checkpoint-4",
                                                "checkpoint-999999"}));
    EXPECT_EQ(model_in("checkpoint-2"), "no manifest");
    EXPECT_EQ(read_manifest(scratch_.path() / "checkpoint-1")->run, "another run");
    std::filesystem::remove(scratch_.path() / "checkpoint-3" / "model.safetensors");
    EXPECT_TRUE(keep(5, 1));  // nor are incomplete checkpoints: they are not counted, and stay
    EXPECT_EQ(kept().size(), 5u);
    EXPECT_EQ(model_in("checkpoint-5"), "5");
}

TEST_F(HostNumberedCheckpoints, ARemovalThatWasCutShortIsFinished) {
    keep(1, 1);
    std::filesystem::rename(scratch_.path() / "checkpoint-1", scratch_.path() / ".removed-checkpoint-1");
    std::filesystem::remove(scratch_.path() / ".removed-checkpoint-1" / "config.json");
    scratch_.file(".removed-checkpoint-7/model.safetensors", "no manifest");
    keep(2, 1);
    EXPECT_FALSE(std::filesystem::exists(scratch_.path() / ".removed-checkpoint-1"));
    EXPECT_EQ(model_in(".removed-checkpoint-7"), "no manifest");
}

}  // namespace
}  // namespace vkf::test
