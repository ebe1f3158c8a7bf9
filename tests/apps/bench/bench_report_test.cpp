#include "apps/bench/bench_report.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tests/scratch.h"

namespace vkf::test {

namespace {

/// Report of 10 s with 100 FLOPs and 1 byte, on a device with peaks of 20 FLOP/s, 40 with bf16 matrices, and 1 byte/s.
BenchReport report(const std::string& element) {
    return {.head = {.device = "GPU", .kind = "discrete GPU", .driver = "a driver", .version = "1", .date = "today"},
            .precision = "mixed",
            .peak = {.flops = 20, .bytes = 1, .matrices = {{"bf16", 40}}},
            .measurements = {{.family = "matmul",
                              .name = "square",
                              .shape = "1x1x1",
                              .layout = "NN",
                              .kernel = "a kernel",
                              .seconds = {10, 10, 10, 1},
                              .flops = 100,
                              .bytes = 1,
                              .element = element}}};
}

double share(const BenchReport& report) {
    return report.measurements.front().share_of_peak(report.peak);
}

}  // namespace

TEST(HostBenchReport, ComparesMatricesWithTheirOwnPeak) {
    EXPECT_DOUBLE_EQ(share(report("")), 0.5);
    EXPECT_DOUBLE_EQ(share(report("bf16")), 0.25);
    EXPECT_DOUBLE_EQ(share(report("fp16")), 0.5);  // the peak of fp16 matrices is unknown
    EXPECT_EQ(matrix_element("matmul_tile"), "");
    EXPECT_EQ(matrix_element("matmul_coopmat"), "fp16");
    EXPECT_EQ(matrix_element("attention_coopmat2_backward_q_bf16"), "bf16");
}

TEST(HostBenchReport, IsReadBackAsItWasWritten) {
    const Scratch scratch;
    BenchReport written = report("bf16");
    written.host = ReportHost{"Debian", "6.12", "CPU 3", 16, 1LL << 35, {{"LP_NUM_THREADS", "1"}}};
    written.models = {{"gpt2", "GPT-2 124M", 124439808}};
    Measurement& m = written.measurements.front();
    m.seconds.deviation = 0.5;
    m.item = "target token";
    m.items = 4096;
    m.host_seconds = 0.25;
    m.precision = "bf16";
    m.model = "gpt2";
    m.attention = "belief-star";
    write_atomically(scratch.path() / "report.json", document(written).dump());
    const BenchReport read = read_report(scratch.path() / "report.json");
    EXPECT_EQ(document(read), document(written));
    EXPECT_EQ(read.measurements.front().item, "target token");
    EXPECT_EQ(read.host->environment.at("LP_NUM_THREADS"), "1");
    EXPECT_EQ(read.models.front().parameters, 124439808);
    EXPECT_DOUBLE_EQ(share(read), 0.25);
    EXPECT_NE(heading(read).find("matrices of bf16"), std::string::npos);
}

}  // namespace vkf::test
