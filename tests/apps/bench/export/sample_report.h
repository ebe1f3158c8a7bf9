// A report for tests of its exports: a kernel, a training step, a prompt and tokens, in two precisions.
#pragma once

#include "apps/bench/export/export_forms.h"

namespace vkf::test {

/// Report of a GPU with a peak of 20 GFLOP/s and 10 GB/s. Times are 2 s, at least 1, at most 4, and deviate by 0.5 s.
inline BenchReport sample_report() {
    const Timing seconds{2, 1, 4, 5, 0.5}, old{2, 1, 4, 5};
    const auto model = [&](const char* family, const char* name, const char* shape, double items) {
        return Measurement{.family = family,
                           .name = name,
                           .shape = shape,
                           .layout = {},
                           .seconds = seconds,
                           .flops = 8e9,
                           .bytes = 1e9,
                           .item = "token",
                           .items = items,
                           .precision = "fp32",
                           .model = "smollm2",
                           .attention = "standard"};
    };
    BenchReport report{.head = {.device = "GPU 1",
                                .kind = "discrete GPU",
                                .driver = "driver 2",
                                .version = "0.1.0+12.g1a2b3c4",
                                .date = "2026-01-31T12:30:00Z",
                                .subgroup_size = 32},
                       .precision = "mixed",
                       .peak = {.flops = 20e9, .bytes = 10e9},
                       .measurements = {{.family = "matmul",
                                         .name = "square",
                                         .shape = "1x1x1",
                                         .layout = "NN",
                                         .kernel = "matmul_tile",
                                         .seconds = old,
                                         .flops = 8e9,
                                         .bytes = 1e9},
                                        model("step", "SmolLM2 135M", "1x128 tokens", 128),
                                        model("step", "SmolLM2 135M, belief-star", "1x128 tokens", 128),
                                        model("generate", "SmolLM2 135M prefill", "128 tokens", 128),
                                        model("generate", "SmolLM2 135M decode", "1 token", 1),
                                        model("generate", "SmolLM2 135M decode", "3x1 tokens", 3)}};
    report.measurements[2].attention = "belief-star";
    report.host = ReportHost{.os = "Debian GNU/Linux 13",
                            .kernel = "6.12",
                            .processor = "CPU 3",
                            .threads = 16,
                            .memory_bytes = 1LL << 35,
                            .environment = {}};
    report.models = {{"smollm2", "SmolLM2 135M", 134515008}};
    return report;
}

/// Text with what forms must escape: a quote, a comma, XML's characters, an escape sequence, a line end, a zero, a
/// formula.
inline const std::string hostile = std::string("=1+\"a\", <b>&'\x1b[31m\r\n") + '\0' + "\xc2\x9b" + "c";

inline ExportInput input_of(std::vector<BenchReport> reports) {
    ExportInput input;
    for (BenchReport& report : reports)
        input.files.push_back({text(static_cast<char>('a' + input.files.size()), ".json"), std::move(report)});
    return input;
}

}  // namespace vkf::test
