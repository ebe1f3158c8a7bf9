// What all benchmarks share: the subcommands and one record for whatever was timed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common.h"

namespace CLI {
class App;
}

namespace vkf {

void add_bench_images(CLI::App& bench, Common& common);
void add_bench_kernels(CLI::App& bench, Common& common);
void add_bench_step(CLI::App& bench, Common& common);
void add_bench_generate(CLI::App& bench, Common& common);
void add_bench_compile(CLI::App& bench, Common& common);
void add_bench_compare(CLI::App& bench, Common& common);

/// Seconds.
struct Timing {
    double median = 0, least = 0, most = 0;
    std::int64_t samples = 0;
};

/// Of at least one sample.
Timing timing_of(std::vector<double> seconds);
/// Samples of the clock for `seconds`, at least one; what runs once before is not counted. Throws Interrupted after
/// Ctrl-C.
Timing time_calls(double seconds, const std::function<void()>& call);

/// What the device reached in kernels made for nothing else, per second.
struct Peak {
    double flops = 0, bytes = 0;  // of multiply-adds in fp32, and of a copy
    double memcpy_bytes = 0;      // of a CPU, to compare with: one thread's memcpy, read and written; else 0
    std::map<std::string, double> matrices{};  // FLOPs of cooperative matrices by what they multiply: "fp16", "bf16"

    /// Of products of that element; of fp32 where there are no matrices of it.
    double flops_of(const std::string& element) const {
        const auto found = matrices.find(element);
        return found == matrices.end() ? flops : found->second;
    }
    /// The shortest time that so much work can take.
    double least_seconds(double work_flops, double work_bytes, const std::string& element = {}) const {
        return std::max(work_flops / flops_of(element), work_bytes / bytes);
    }
};

/// Something that was timed. Work is what its kernels count: the FLOPs of the algorithm, and each operand's bytes once.
struct Measurement {
    std::string family;  // "matmul", "attention", …: what belongs together
    std::string name;
    std::string shape;
    std::string layout;  // of a product: NN, NT or TN
    std::string kernel;  // the first of those that were run, where it is one op's
    Timing seconds;
    double flops = 0, bytes = 0;
    std::string item = {};  // what a user counts: "token", "image"; or nothing
    double items = 0;
    double host_seconds = 0;   // of a step: what the host does for it, while the device is busy with the one before
    std::string element = {};  // of the cooperative matrices that it uses: "fp16", "bf16"; none: empty

    double flops_per_second() const { return flops / seconds.median; }
    double bytes_per_second() const { return bytes / seconds.median; }
    bool memory_bound(const Peak& peak) const { return bytes / peak.bytes > flops / peak.flops_of(element); }
    /// Of what the device could do at most; above 1 where caches hold what is counted as memory traffic.
    double share_of_peak(const Peak& peak) const { return peak.least_seconds(flops, bytes, element) / seconds.median; }
};

/// "fp16" or "bf16" of a kernel that multiplies by cooperative matrices of it; else empty.
std::string matrix_element(std::string_view kernel);

}  // namespace vkf
