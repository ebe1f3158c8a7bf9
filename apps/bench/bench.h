// Subcommands of vkformer bench, and the record of a measurement that they share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/common.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

void add_bench_images(cli::Command& bench, Common& common);
void add_bench_kernels(cli::Command& bench, Common& common);
void add_bench_step(cli::Command& bench, Common& common);
void add_bench_generate(cli::Command& bench, Common& common);
void add_bench_compile(cli::Command& bench, Common& common);
void add_bench_suite(cli::Command& bench, Common& common);
void add_bench_compare(cli::Command& bench, Common& common);
void add_bench_export(cli::Command& bench, Common& common);

/// Seconds.
struct Timing {
    double median = 0, least = 0, most = 0;
    std::int64_t samples = 0;
    std::optional<double> deviation = {};  // standard deviation of the samples; older reports lack it
};

/// Summarises the samples, of which there is at least one.
Timing timing_of(std::vector<double> seconds);
/// Times calls by the clock for `seconds`, at least `calls` calls; one call before is not counted. Throws Interrupted
/// after Ctrl-C.
Timing time_calls(double seconds, const std::function<void()>& call, std::int64_t calls = 1);

/// Rates, per second, that the device reached in kernels made only to measure them.
struct Peak {
    double flops = 0, bytes = 0;  // multiply-adds in fp32; a copy
    double memcpy_bytes = 0;      // CPUs, for comparison: bytes that one thread's memcpy reads and writes; else 0
    std::map<std::string, double> matrices{};  // FLOPs of cooperative matrices by element: "fp16", "bf16"

    /// Peak of products of the element type; the fp32 peak if the device has no matrices of that type.
    double flops_of(const std::string& element) const {
        const auto found = matrices.find(element);
        return found == matrices.end() ? flops : found->second;
    }
    /// Shortest time, in seconds, in which the device can do the work.
    double least_seconds(double work_flops, double work_bytes, const std::string& element = {}) const {
        return std::max(work_flops / flops_of(element), work_bytes / bytes);
    }
};

/// A timed computation. Its work is counted by its kernels: FLOPs of the algorithm, and bytes of each operand once.
struct Measurement {
    std::string family;  // group of measurements: "matmul", "attention", …
    std::string name;
    std::string shape;
    std::string layout;  // products: NN, NT or TN
    std::string kernel;  // first kernel that was run, if one op is timed
    Timing seconds;
    double flops = 0, bytes = 0;
    std::string item = {};  // unit that users count: "token", "image"; or empty
    double items = 0;
    double host_seconds = 0;     // steps: time in which the host prepares a step while the device runs the previous one
    std::string element = {};    // element type of its cooperative matrices: "fp16", "bf16"; none: empty
    std::string precision = {};  // of activations: "fp32", "bf16", "fp16"; empty: that of the whole report
    std::string model = {};      // name for --model, if a model is timed
    std::string attention = {};  // its variant

    double flops_per_second() const { return flops / seconds.median; }
    double bytes_per_second() const { return bytes / seconds.median; }
    bool memory_bound(const Peak& peak) const { return bytes / peak.bytes > flops / peak.flops_of(element); }
    /// Share of the device's peak that was reached; above 1 if caches serve bytes that count as memory traffic.
    double share_of_peak(const Peak& peak) const { return peak.least_seconds(flops, bytes, element) / seconds.median; }
};

/// Element type of a kernel's cooperative matrices, "fp16" or "bf16"; empty if it uses none.
std::string matrix_element(std::string_view kernel);

}  // namespace vkf
