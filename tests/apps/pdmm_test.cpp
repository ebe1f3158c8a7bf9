// `pdmm` as a user runs it: its figures, its picture, and the runs that fail.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/program.h"
#include "scratch.h"

namespace vkf::test {
namespace {

TEST(ProgramPdmm, ComparesMethodsByTheirErrors) {
    const Scratch scratch;
    const std::filesystem::path plot = scratch.path() / "p.svg";
    const nlohmann::json found =
        document_of({"pdmm", "--graph", "grid", "--nodes", "12", "--iterations", "300", "--plot", plot.string()});
    EXPECT_EQ(found["edges"], 17);
    ASSERT_EQ(found["methods"].size(), 3u);
    for (const nlohmann::json& method : found["methods"]) {
        EXPECT_EQ(method["iterations"], 300);
        EXPECT_EQ(method["errors"].size(), 301u);
        EXPECT_EQ(method["errors"][0], 1.0);  // begins at 0
        EXPECT_EQ(method["error"], method["errors"][300]);
        EXPECT_LE(method["error"].get<double>(), method["method"] == "qa-pdmm" ? 1e-3 : 1e-9);
        EXPECT_FALSE(method["diverged"].get<bool>());
    }
    const std::string svg = bytes_of(plot);
    for (const char* name : {"pdmm", "qa-pdmm", "admm"})
        EXPECT_NE(svg.find(std::string(">") + name + "</text>"), std::string::npos);
}

TEST(ProgramPdmm, BothFormsOfQaPdmmAreEqual) {
    std::vector<double> errors;
    for (const char* form : {"solve", "difference"})
        errors.push_back(
            document_of({"pdmm", "--method", "qa-pdmm", "--form", form, "--cost", "logistic"})["methods"][0]["error"]);
    EXPECT_NEAR(errors[0], errors[1], 1e-8 * errors[0]);
}

TEST(ProgramPdmm, StopsAtTheTolerance) {
    const nlohmann::json found = document_of({"pdmm", "--method", "pdmm", "--tolerance", "1e-6"})["methods"][0];
    EXPECT_LE(found["error"].get<double>(), 1e-6);
    EXPECT_LT(found["iterations"].get<int>(), 200);
}

TEST(ProgramPdmm, TellsWhatDiverges) {
    const std::vector<std::string> words{"pdmm", "--method", "qa-pdmm", "--rho", "0.05", "--eta", "0.5"};
    const nlohmann::json found = document_of(words)["methods"][0];
    EXPECT_TRUE(found["diverged"].get<bool>());
    EXPECT_LT(found["iterations"].get<int>(), 200);
}

TEST(ProgramPdmm, UnreliableNetworksFindTheMinimum) {
    const nlohmann::json found =
        document_of({"pdmm", "--asynchronous", "--message-loss", "0.3", "--iterations", "3000", "--tolerance", "1e-6"});
    EXPECT_EQ(found["methods"].size(), 3u);
}

}  // namespace
}  // namespace vkf::test
