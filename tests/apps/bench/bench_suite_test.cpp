// The suite of benchmarks: its plan, its use of time, and reports side by side.

#include <gtest/gtest.h>

#include <set>

#include "apps/bench/compare/comparison.h"
#include "apps/bench/compare/comparison_page.h"
#include "apps/bench/suite/suite_run.h"
#include "apps/inspect/facts_document.h"
#include "base/files/file.h"
#include "tests/device_fixture.h"
#include "tests/scratch.h"

namespace vkf::test {
namespace {

// --- The plan ------------------------------------------------------------------------------------

TEST(HostBenchSuite, MeasuresEveryModelInEachPrecisionWithBothVariantsAtRisingSizes) {
    const std::vector<SuiteItem> plan = suite_plan(Format::bf16, "auto");
    EXPECT_TRUE(std::ranges::is_sorted(plan, {}, &SuiteItem::step));
    std::set<std::string> names, first;
    for (const SuiteItem& item : plan) {
        const LeftOut& at = item.what;
        EXPECT_TRUE(names.insert(text(at.family, '|', at.name, '|', at.shape, '|', at.precision)).second) << at.name;
        if (item.step == 0) first.insert(text(at.family, ' ', at.name, ' ', at.precision));
    }
    for (const char* model : {"small GPT", "ViT-small", "GPT-2 124M", "SmolLM2 135M"})
        for (const char* variant : {"", ", belief-star"})
            for (const char* precision : {"fp32", "bf16"})
                EXPECT_TRUE(first.contains(text("step ", model, variant, ' ', precision)));
    EXPECT_TRUE(first.contains("generate GPT-2 124M, belief-star bf16"));
    EXPECT_FALSE(first.contains("generate ViT-small fp32"));
    EXPECT_EQ(suite_plan(Format::f16, "auto").size(), plan.size());
    const auto models = suite_models();
    ASSERT_EQ(models.size(), 4u);
    EXPECT_EQ(models[1].name, "vit-small");
    EXPECT_EQ(models[1].parameters, 22'050'664);  // timm's vit_small_patch16_224
    EXPECT_EQ(models[2].parameters, 124'439'808);
    EXPECT_EQ(models[3].parameters, 134'515'008);
}

TEST(HostBenchSuite, NamesWhatEachVersionChanged) {
    EXPECT_TRUE(suite_changes_since(SUITE_VERSION).empty());
    EXPECT_EQ(suite_changes_since(0).size(), static_cast<std::size_t>(SUITE_VERSION));
}

// --- Time ----------------------------------------------------------------------------------------

TEST(HostBenchSuite, ExpectsALargeMeasurementToBeAsSlowAsSmallOnesWere) {
    const LeftOut step{"step", "small", "", "fp32", ""}, product{"matmul", "square", "", "fp32", ""};
    SuiteBudget budget(100, 0.5);
    EXPECT_DOUBLE_EQ(budget.left(30), 70);
    const double unknown = budget.needed(step, 1);
    EXPECT_GT(unknown, 5);                                     // slower than the peak, several times
    budget.learn(step, 0.01, 0.2, 3.0);                        // 20 times its shortest time, 2 s to prepare
    EXPECT_DOUBLE_EQ(budget.needed(step, 1), 2 + 5 * 20 * 1);  // five repetitions
    EXPECT_DOUBLE_EQ(budget.needed(step, 1e-6), 2.5);          // a short one is repeated for its time
    EXPECT_DOUBLE_EQ(budget.needed(product, 1), 2 + 5 * 20);   // what is unknown is as slow as the slowest
    budget.learn(product, 1, 2, 10.25);
    EXPECT_DOUBLE_EQ(budget.needed(product, 1), 0.25 + 5 * 2);
}

/// An item of `seconds` on a device of one FLOP per second, in `bytes` of memory, that counts its measurements.
SuiteItem made_up(const std::string& name, double seconds, std::int64_t bytes, int& measured) {
    return {.step = 0, .what = {"made up", name, "1", "fp32", ""}, .prepare = [=, &measured](Device&) -> PreparedItem {
                return {
                    {.costs = {{.flops = seconds}}, .states = bytes}, [=, &measured](double) {
                        ++measured;
                        return std::vector{Measurement{
                            .family = "made up", .name = name, .shape = "1", .layout = "", .seconds = {1, 1, 1, 1}}};
                    }};
            }};
}

TEST(DeviceBenchSuite, LeavesOutOnlyWhatDoesNotFitAndSaysWhy) {
    int measured = 0;
    constexpr std::int64_t all = std::int64_t{1} << 60;
    const std::vector<SuiteItem> plan{made_up("small", 1e-6, 4, measured), made_up("huge", 1e6, 4, measured),
                                      made_up("wide", 1e-6, all, measured), made_up("also small", 1e-6, 4, measured)};
    BenchReport report{.peak = {.flops = 1, .bytes = 1}, .measurements = {}, .suite = SuiteRecord{1, 1}};
    std::vector<std::string> shown;
    run_suite(shared_device(), plan, 600, report,
              [&](std::size_t, double, const std::string& name) { shown.push_back(name); });
    EXPECT_EQ(measured, 2);
    ASSERT_EQ(report.measurements.size(), 2u);
    EXPECT_EQ(report.measurements[1].name, "also small");
    EXPECT_EQ(report.measurements[1].precision, "fp32");
    ASSERT_EQ(report.suite->left_out.size(), 2u);
    EXPECT_EQ(report.suite->left_out[0].name, "huge");
    EXPECT_NE(report.suite->left_out[0].reason.find("would take about"), std::string::npos);
    EXPECT_EQ(report.suite->left_out[1].name, "wide");
    EXPECT_NE(report.suite->left_out[1].reason.find("of memory, the device has"), std::string::npos);
    EXPECT_EQ(shown, (std::vector<std::string>{"small", "huge", "wide", "also small"}));
    run_suite(shared_device(), plan, 0, report, [](std::size_t, double, const std::string&) {});
    EXPECT_EQ(measured, 2);
    EXPECT_EQ(report.suite->left_out.back().reason, "the time is over");
}

// --- Reports side by side ------------------------------------------------------------------------

Measurement measurement(const std::string& family, const std::string& name, double seconds,
                        const std::string& precision = "fp32") {
    return {.family = family,
            .name = name,
            .shape = "1x64 tokens",
            .layout = "",
            .seconds = {seconds, seconds, seconds, 3, 0.25},
            .flops = 10,
            .bytes = 1,
            .item = "target token",
            .items = 64,
            .precision = precision,
            .model = "gpt2",
            .attention = "standard"};
}

BenchReport report_of(std::vector<Measurement> measurements) {
    return {.head = {.device = "<GPU>", .kind = "discrete GPU", .driver = "a driver", .version = "1", .date = "today"},
            .peak = {.flops = 20, .bytes = 1, .matrices = {{"bf16", 40}}},
            .measurements = std::move(measurements),
            .suite = SuiteRecord{1, 2, {{"step", "GPT-2", "16x1024 tokens", "fp32", "needs <memory>"}}},
            .models = {{"gpt2", "GPT-2 124M", 124'439'808}}};
}

TEST(HostBenchSuite, ReportIsReadBackAsItWasWritten) {
    const Scratch scratch;
    BenchReport written = report_of({measurement("step", "GPT-2", 2)});
    written.checked = CheckVerdict{"today", 300, 2};
    write_atomically(scratch.path() / "report.json", document(written).dump());
    const BenchReport read = read_report(scratch.path() / "report.json");
    EXPECT_EQ(document(read), document(written));
    ASSERT_TRUE(read.suite.has_value());
    EXPECT_EQ(read.suite->left_out[0].reason, "needs <memory>");
    EXPECT_EQ(read.measurements[0].items, 64);
    EXPECT_EQ(read.measurements[0].seconds.deviation, 0.25);
    EXPECT_EQ(read.models[0].parameters, 124'439'808);
    ASSERT_TRUE(read.checked.has_value());
    EXPECT_EQ(read.checked->checks, 300);
    EXPECT_NE(comparison_page(std::span(&read, 1)).find("2 of 300"), std::string::npos);
}

TEST(HostBenchSuite, MatchesWhatCanBeMatchedAndCountsTheRest) {
    const std::vector<BenchReport> reports{
        report_of({measurement("step", "GPT-2", 8), measurement("step", "ViT", 4), measurement("matmul", "square", 2),
                   measurement("matmul", "only A", 2)}),
        report_of({measurement("step", "ViT", 1), measurement("step", "GPT-2", 4),
                   measurement("step", "GPT-2", 1, "bf16"), measurement("attention", "long", 3)}),
        report_of({measurement("attention", "long", 6), measurement("matmul", "square", 8),
                   measurement("matmul", "square", 9)})};
    const Comparison made = compare(reports);
    ASSERT_EQ(made.measurements.size(), 4u);
    EXPECT_EQ(made.measurements[0].any().name, "GPT-2");
    EXPECT_EQ(made.measurements[0].of[2], nullptr);
    EXPECT_EQ(made.measurements[0].speedup(1), 2);
    EXPECT_FALSE(made.measurements[0].speedup(2).has_value());
    EXPECT_EQ(made.measurements[3].any().name, "long");
    EXPECT_FALSE(made.measurements[3].speedup(2).has_value());  // A lacks it
    EXPECT_EQ(made.unmatched, (std::vector<std::size_t>{1, 1, 1}));
    EXPECT_EQ(unmatched_text(made), "no match: 1 measurements of A, 1 of B, 1 of C");
    ASSERT_EQ(made.families.size(), 3u);
    EXPECT_EQ(made.families[0].first, "step");
    EXPECT_DOUBLE_EQ(*made.families[0].second[1], std::sqrt(2.0 * 4.0));
    EXPECT_FALSE(made.families[0].second[2].has_value());
    EXPECT_DOUBLE_EQ(*made.families[1].second[2], 0.25);

    const auto rows = rows_of(made, reports);
    ASSERT_EQ(rows.size(), 1u + 4 + 3);
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
    EXPECT_EQ(rows[0][4], "precision");
    EXPECT_EQ(rows[1][8], "2.00");  // A/B of GPT-2
    EXPECT_EQ(rows[5][8], "2.83");  // of all steps
    EXPECT_EQ(rows[6][9], "0.25");  // A/C of products
    EXPECT_EQ(rows[7][8], "");

    const std::string page = comparison_page(reports);
    EXPECT_NE(page.find("&lt;GPU&gt; (discrete GPU)"), std::string::npos);
    EXPECT_EQ(page.find("<GPU>"), std::string::npos);
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_NE(page.find(">2.83<"), std::string::npos);
    const std::string alone = comparison_page(std::span(reports).first(1));
    EXPECT_NE(alone.find("needs &lt;memory&gt;"), std::string::npos);
    EXPECT_EQ(alone.find("Speed beside A"), std::string::npos);
}

TEST(HostBenchSuite, SaysWhenReportsAreNotAlike) {
    std::vector<BenchReport> reports{report_of({}), report_of({})};
    EXPECT_TRUE(comparison_notes(reports).empty());
    reports[1].precision = "mixed", reports[1].kernels = "tile";
    EXPECT_EQ(comparison_notes(reports),
              (std::vector<std::string>{"A is in fp32, B in mixed", "A uses kernels auto, B uses tile"}));
    reports[1].suite->version = SUITE_VERSION + 1;
    EXPECT_THROW(comparison_notes(reports), InputError);
}

TEST(HostBenchSuite, MemoryOfTheDeviceThatTheHostMapsIsFound) {
    DeviceFacts facts;
    facts.heaps = {{8, {"device local"}}, {16, {}}, {2, {"device local"}}};
    facts.memory_types = {{0, {"device local"}}, {1, {"host visible"}}};
    EXPECT_EQ(host_visible_device_bytes(facts), 0u);
    facts.memory_types.push_back({2, {"device local", "host visible"}});
    EXPECT_EQ(host_visible_device_bytes(facts), 2u);
    facts.memory_types.push_back({0, {"device local", "host visible"}});
    EXPECT_EQ(host_visible_device_bytes(facts), 8u);
}

}  // namespace
}  // namespace vkf::test
