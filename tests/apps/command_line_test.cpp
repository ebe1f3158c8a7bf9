// Tests the program as a function, without a separate process: output and status of command lines.

#include "apps/cli/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scratch.h"

namespace vkf::test {
namespace {

struct Outcome {
    int status;
    std::string output, complaint;
};

Outcome vkformer(std::vector<const char*> words) {
    words.insert(words.begin(), "vkformer");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = run_command_line(static_cast<int>(words.size()), words.data());
    return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(HostCommandLine, EndsWithStatusZeroWhereSomethingIsTold) {
    const Outcome version = vkformer({"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_EQ(version.output, "vkformer " VKFORMER_VERSION "\n");
    EXPECT_EQ(version.complaint, "");
    const Outcome help = vkformer({"train", "--help"});
    EXPECT_EQ(help.status, 0);
    expect_holds(help.output, "gpt");
}

TEST(HostCommandLine, EndsWithStatusTwoAndOneLineOnBadUsageOrInput) {
    for (const auto& [words, wanted] : std::vector<std::pair<std::vector<const char*>, const char*>>{
             {{"trian"}, "unknown subcommand 'trian'"},
             {{"inspect", "--modle", "out"}, "unknown option '--modle'"},
             {{"inspect", "--model", "no such model"}, "no such model does not exist"}}) {
        const Outcome outcome = vkformer(words);
        EXPECT_EQ(outcome.status, 2) << wanted;
        EXPECT_EQ(outcome.output, "");
        EXPECT_TRUE(outcome.complaint.starts_with("vkformer: error: ")) << outcome.complaint;
        EXPECT_EQ(outcome.complaint.find('\n'), outcome.complaint.size() - 1) << outcome.complaint;
        expect_holds(outcome.complaint, wanted);
    }
}

TEST(HostCommandLine, TellsWhatThereIsWhereNothingWasAsked) {
    const Outcome outcome = vkformer({});
    EXPECT_EQ(outcome.status, 2);
    expect_holds(outcome.complaint, "inspect");
}

}  // namespace
}  // namespace vkf::test
