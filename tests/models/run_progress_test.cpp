// When a run has stopped getting better, and which of its checkpoints are kept.

#include "models/train/run_progress.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
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
    void keep(std::int64_t step, std::int64_t limit) {
        write_atomically(scratch_.path() / "config.json", "c");
        write_atomically(scratch_.path() / "model.safetensors", std::to_string(step));
        keep_numbered(scratch_.path(), {"config.json", "model.safetensors"}, step, limit);
    }

    Scratch scratch_;
};

TEST_F(HostNumberedCheckpoints, AreTheLatestByTheirNumbers) {
    for (const char* other : {"checkpoint-x/f", "checkpoint-/f", "checkpoint-07/f", "checkpoint-7b/f", "best/f"})
        scratch_.file(other, "");
    scratch_.file("checkpoint-3", "a file");
    for (const std::int64_t step : {8, 9, 10, 100}) keep(step, 2);
    EXPECT_EQ(kept(), (std::vector<std::string>{"checkpoint-10", "checkpoint-100"}));
    EXPECT_EQ(read_text(scratch_.path() / "checkpoint-10" / "model.safetensors"), "10");
    EXPECT_EQ(read_text(scratch_.path() / "checkpoint-100" / "model.safetensors"), "100");
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

}  // namespace
}  // namespace vkf::test
