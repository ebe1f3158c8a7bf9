// Reports of a check of a device, and the faults that are kept from them.
#include "apps/check/check_report.h"

#include <gtest/gtest.h>

#include "apps/check/check_faults.h"

namespace vkf::test {
namespace {

CheckResult passed(std::size_t index, std::string name, std::vector<std::pair<std::string, std::string>> chosen) {
    return {.index = index, .table = "matmul", .name = std::move(name), .worst = 0.25, .chosen = std::move(chosen)};
}

CheckResult failed(std::size_t index, std::string name, std::vector<std::pair<std::string, std::string>> chosen) {
    CheckResult result = passed(index, std::move(name), std::move(chosen));
    result.failures = {"y0, element 3 of [4]: 1, wanted 2 (9 times its bound)"};
    return result;
}

TEST(HostCheckReport, RefusesTheCandidateThatIsNeverRight) {
    CheckReport report;
    report.results = {passed(0, "a", {{"matmul", "tile 64"}}),
                      failed(1, "b", {{"matmul", "tile 64"}, {"attention", "coopmat"}}),
                      failed(2, "c", {{"matmul", "tile 64"}})};
    const TuningCache faults = faults_of(report);
    EXPECT_TRUE(faults.wrong.empty());
    ASSERT_TRUE(faults.refused.contains("attention"));
    EXPECT_EQ(faults.refused.at("attention").at("coopmat"), "b: y0, element 3 of [4]: 1, wanted 2 (9 times its bound)");
    // The third check has no other candidate that could be the fault's.
    ASSERT_TRUE(faults.refused.contains("matmul"));
    EXPECT_EQ(faults.refused.at("matmul").at("tile 64").substr(0, 3), "c: ");
}

TEST(HostCheckReport, AnOpWithoutAChoiceIsWrong) {
    CheckReport report;
    report.results = {passed(0, "norm: a", {}), failed(1, "norm: b", {})};
    const TuningCache faults = faults_of(report);
    EXPECT_TRUE(faults.refused.empty());
    ASSERT_EQ(faults.wrong.size(), 1u);
    EXPECT_TRUE(faults.wrong.contains("norm: b"));
}

TEST(HostCheckReport, FaultsOfMatricesAreKeptByTheirTrial) {
    CheckReport report;
    report.results = {failed(0, "device: cooperative matrices", {}), failed(1, "device: largest buffer", {})};
    const TuningCache faults = faults_of(report);
    ASSERT_EQ(faults.wrong.size(), 1u);
    EXPECT_TRUE(faults.wrong.contains("device: largest buffer"));
}

TEST(HostCheckReport, SaysWhatFailed) {
    CheckReport report{.head = {.device = "GPU <1>", .kind = "discrete"}, .planned = 9, .stopped = true};
    report.results = {passed(0, "matmul: a", {}), failed(1, "matmul: b", {})};
    report.together = 2;
    EXPECT_FALSE(report.right());
    const std::string line = summary(report);
    EXPECT_EQ(line.substr(0, line.find(';')), "2 of 9 checks on GPU <1>: 1 fails");
    EXPECT_NE(line.find("largest error 0.25 of its bound (matmul: a)"), std::string::npos) << line;
    EXPECT_NE(line.find("the same bits in 2 checks"), std::string::npos) << line;
    EXPECT_NE(markdown(report).find("| matmul: b |  | y0, element 3"), std::string::npos) << markdown(report);
    EXPECT_NE(html_page(report).find("GPU &lt;1&gt;"), std::string::npos);
    EXPECT_EQ(document(report).at("failed"), 1);
}

TEST(HostCheckReport, OtherBitsNextToAnotherProcessAreAFailure) {
    CheckReport report;
    report.results = {passed(0, "matmul: a", {})};
    EXPECT_TRUE(report.right());
    report.differences = {"matmul: a"};
    EXPECT_FALSE(report.right());
    EXPECT_EQ(failure_rows(report).size(), 2u);
}

TEST(HostCheckLines, AreReadAsTheyWereWritten) {
    CheckResult result = failed(7, "matmul: NN 1 2 3", {{"matmul", "tile 64"}});
    result.kernels = {"matmul_tile"};
    result.bits = "0123456789abcdef";
    result.seconds = 0.5;
    const auto found = read_result(nlohmann::json::parse(document(result).dump()));
    ASSERT_TRUE(found);
    EXPECT_EQ(document(*found), document(result));
    EXPECT_FALSE(read_begin_line(document(result)));
    const auto begin = read_begin_line(nlohmann::json::parse(begin_document(result).dump()));
    ASSERT_TRUE(begin);
    EXPECT_EQ(begin->name, result.name);
    EXPECT_EQ(begin->kernels, result.kernels);
    EXPECT_EQ(begin->chosen, result.chosen);
    const auto plan = read_plan_line(document(PlanLine{{.device = "d", .kind = "CPU"}, ~std::uint64_t{0}, 12}));
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->kernels, ~std::uint64_t{0});
    EXPECT_EQ(plan->checks, 12u);
}

}  // namespace
}  // namespace vkf::test
