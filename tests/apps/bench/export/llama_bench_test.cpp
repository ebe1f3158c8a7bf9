// Tests reports in llama-bench's form: its fields, and values for all by which its readers join rows.

#include <gtest/gtest.h>

#include "apps/bench/export/sample_report.h"
#include "base/text/json.h"

namespace vkf::test {

namespace {

nlohmann::json rows(const BenchReport& report) {
    return parse_json(export_llama_bench(input_of({report})).text, "export");
}

TEST(HostExportLlamaBench, HasPromptsAndTokens) {
    EXPECT_EQ(export_llama_bench(input_of({sample_report()})).measurements, 2u);
    const nlohmann::json list = rows(sample_report());
    ASSERT_EQ(list.size(), 2u);  // steps, kernels, and several texts at once have no place
    const nlohmann::json &prompt = list[0], &token = list[1];
    EXPECT_EQ(prompt["build_commit"], "1a2b3c4");
    EXPECT_EQ(prompt["cpu_info"], "CPU 3");
    EXPECT_EQ(prompt["gpu_info"], "GPU 1");
    EXPECT_EQ(prompt["model_filename"], "smollm2");
    EXPECT_EQ(prompt["model_type"], "SmolLM2 135M, fp32");
    EXPECT_EQ(prompt["model_n_params"], 134515008);
    EXPECT_EQ(prompt["model_size"], 4 * 134515008);
    EXPECT_EQ(prompt["test_time"], "2026-01-31T12:30:00Z");
    EXPECT_EQ(prompt["n_gpu_layers"], 99);
    EXPECT_EQ((std::vector{prompt["n_prompt"], prompt["n_gen"], prompt["n_depth"]}),
              (std::vector<nlohmann::json>{128, 0, 0}));
    EXPECT_EQ((std::vector{token["n_prompt"], token["n_gen"], token["n_depth"]}),
              (std::vector<nlohmann::json>{0, 1, 128}));
    EXPECT_EQ(prompt["avg_ns"], 2'000'000'000);
    EXPECT_EQ(prompt["stddev_ns"], 500'000'000);
    EXPECT_EQ(prompt["avg_ts"], 64);
    EXPECT_EQ(prompt["stddev_ts"], 16);
    EXPECT_FALSE(prompt.contains("samples_ns"));  // a report has none
    EXPECT_TRUE(prompt["avg_ns"].is_number_integer());
}

TEST(HostExportLlamaBench, ATokenFollowsThePromptThatWasMeasuredBeforeIt) {
    BenchReport report = sample_report();
    Measurement prompt = report.measurements[3], token = report.measurements[4];
    prompt.items = 512;
    report.measurements.push_back(prompt);
    report.measurements.push_back(token);
    const nlohmann::json list = rows(report);
    ASSERT_EQ(list.size(), 4u);
    EXPECT_EQ(list[1]["n_depth"], 128);
    EXPECT_EQ(list[3]["n_depth"], 512);
}

TEST(HostExportLlamaBench, HasAValueForEveryFieldThatReadersJoinBy) {
    for (const nlohmann::json& row : rows(sample_report()))
        for (const char* field :
             {"cpu_info",       "gpu_info",     "backends",      "n_gpu_layers", "tensor_buft_overrides",
              "model_filename", "model_type",   "n_batch",       "n_ubatch",     "embeddings",
              "cpu_mask",       "cpu_strict",   "poll",          "n_threads",    "type_k",
              "type_v",         "use_mmap",     "no_kv_offload", "split_mode",   "main_gpu",
              "load_mode",      "tensor_split", "flash_attn",    "n_prompt",     "n_gen",
              "build_commit",   "test_time",    "avg_ts",        "n_depth",      "n_cpu_moe",
              "fit_target",     "fit_min_ctx"})
            EXPECT_TRUE(row.contains(field) && !row[field].is_null()) << field;
}

TEST(HostExportLlamaBench, SaysNothingThatAReportDoesNot) {
    BenchReport report = sample_report();
    report.models.clear();
    report.host.reset();
    report.head.kind = "CPU";
    report.head.version = "0.1.0";
    report.measurements.erase(report.measurements.begin(), report.measurements.begin() + 4);
    report.measurements[0].model = report.measurements[0].precision = report.measurements[0].attention = "";
    report.measurements[0].seconds.deviation.reset();
    report.measurements[0].name = "SmolLM2 135M, belief decode";
    const nlohmann::json row = rows(report).at(0);
    for (const char* field : {"n_depth", "model_n_params", "model_size", "stddev_ns", "stddev_ts", "build_number"})
        EXPECT_TRUE(row.contains(field) && row[field].is_null()) << field;
    EXPECT_EQ(row["cpu_info"], "GPU 1");
    EXPECT_EQ(row["gpu_info"], "");
    EXPECT_EQ(row["n_gpu_layers"], 0);
    EXPECT_EQ(row["build_commit"], "0.1.0");
    EXPECT_EQ(row["model_type"], "SmolLM2 135M, belief, bf16");
    EXPECT_EQ(row["model_filename"], "SmolLM2 135M");
    EXPECT_EQ(row["type_k"], "bf16");
}

TEST(HostExportLlamaBench, KeepsTextsInTheirStrings) {
    BenchReport report = sample_report();
    report.head.device = hostile;
    report.measurements[3].items = 1e300;
    const nlohmann::json list = rows(report);
    EXPECT_EQ(list[0]["gpu_info"], hostile);
    EXPECT_EQ(list[0]["n_prompt"], 1e300);
}

}  // namespace

}  // namespace vkf::test
