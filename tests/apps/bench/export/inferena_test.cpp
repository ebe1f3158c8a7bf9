// Tests reports in inferena's form: the measurements that it takes, and the outputs that its harness compares.

#include <gtest/gtest.h>

#include "apps/bench/export/sha256.h"
#include "apps/bench/export/sample_report.h"
#include "base/files/safetensors.h"
#include "base/text/json.h"
#include "scratch.h"

namespace vkf::test {

namespace {

std::string sha256_of(std::string_view words) {
    return sha256(std::as_bytes(std::span(words)));
}

/// Input of the reports with outputs: logits 0, 1/4, 2/4, … for `length` tokens of a vocabulary of one, and a loss.
ExportInput with_outputs(const Scratch& scratch, std::vector<BenchReport> reports, std::int64_t length = 128) {
    std::vector<float> logits;
    for (std::int64_t i = 0; i < length; ++i) logits.push_back(static_cast<float>(i) / 4);
    const float loss = 10.5f;
    ExportInput input = input_of(std::move(reports));
    input.outputs = (scratch.path() / "outputs.safetensors").string();
    write_safetensors(input.outputs, std::vector{float_source("logits", {1, length, 1}, logits),
                                                 float_source("loss", {}, {&loss, 1})});
    return input;
}

// FIPS 180-4's examples, and messages about the length at which the padding takes another block.
TEST(HostSha256, IsThatOfTheStandard) {
    EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256_of(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(sha256_of(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    EXPECT_EQ(sha256_of(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(HostExportInferena, HasTheTimesAndOutputsOfOneRun) {
    const Scratch scratch;
    const Exported exported = export_inferena(with_outputs(scratch, {sample_report()}));
    EXPECT_EQ(exported.measurements, 3u);
    EXPECT_EQ(exported.text.find('\n'), exported.text.size() - 1);  // the harness reads a line
    const nlohmann::json run = parse_json(exported.text, "export");
    EXPECT_EQ(run["framework"], "vkformer");
    EXPECT_EQ(run["model"], "SmolLM2-135M");
    EXPECT_EQ(run["device"], "GPU 1");
    EXPECT_EQ(run["gpu_name"], "GPU 1");
    EXPECT_EQ(run["backend"], "Vulkan");
    EXPECT_EQ(run["timings"],
              nlohmann::json({{"compile_s", 0}, {"inference_ms", 2000}, {"latency_ms", 2000}, {"training_ms", 2000}}));
    EXPECT_EQ(run["outputs"]["loss"], 10.5);
    ASSERT_EQ(run["outputs"]["logits_sample"].size(), 16u);
    EXPECT_EQ(run["outputs"]["logits_sample"][15], 3.75);
    std::vector<float> logits;
    for (int i = 0; i < 128; ++i) logits.push_back(static_cast<float>(i) / 4);
    EXPECT_EQ(run["outputs"]["logits_hash"], "sha256:" + sha256(std::as_bytes(std::span(logits))));
}

TEST(HostExportInferena, TakesOnlyMeasurementsOfItsBenchmark) {
    const Scratch scratch;
    const auto timings = [&](const BenchReport& report) {
        const std::string text = export_inferena(with_outputs(scratch, {report})).text;
        return text.empty() ? nlohmann::json() : parse_json(text, "export")["timings"];
    };
    BenchReport report = sample_report();
    report.measurements[1].shape = "2x64 tokens";
    report.measurements[3].items = 64;
    EXPECT_EQ(timings(report)["training_ms"], 0);
    EXPECT_EQ(timings(report)["inference_ms"], 0);
    EXPECT_EQ(timings(report)["latency_ms"], 2000);
    report.measurements[4].model = "gpt2";
    EXPECT_TRUE(timings(report).is_null());
    report = sample_report();
    for (Measurement& m : report.measurements) m.precision = "";  // then it is the report's: mixed
    EXPECT_TRUE(timings(report).is_null());
    report.precision = "fp32";
    for (Measurement& m : report.measurements) m.model = m.attention = "";  // older reports have only names
    report.head.kind = "CPU";
    EXPECT_EQ(timings(report)["training_ms"], 2000);
}

TEST(HostExportInferena, RefusesWhatIsNotOneRun) {
    const Scratch scratch;
    BenchReport other = sample_report();
    other.head.driver = "driver 3";
    expect_holds(complaint([&] {
                     export_inferena(with_outputs(scratch, {sample_report(), other}));
                 }),
                 "wanted one device and version");
    expect_holds(complaint([&] { export_inferena(with_outputs(scratch, {sample_report()}, 64)); }),
                 "wanted logits F32 [1, 128, V]");
    ExportInput input = input_of({sample_report()});
    input.outputs = (scratch.path() / "none.safetensors").string();
    const float loss = 1;
    write_safetensors(input.outputs, std::vector{float_source("loss", {}, {&loss, 1})});
    expect_holds(complaint([&] { export_inferena(input); }), "has no logits");
}

}  // namespace

}  // namespace vkf::test
