#include "checks/device/device_probes.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/error.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/running_sum.h"
#include "vulkan/device/device.h"

namespace vkf::checks {

namespace {

std::string largest_buffer(Device& device, const ProgramOptions& lowering) {
    const std::uint64_t bytes = std::min(device.info().buffer_bytes, device.free_bytes() / 4);
    const std::int64_t width = 1024, rows = static_cast<std::int64_t>(bytes / (width * sizeof(float)));
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {1}});
    const Tensor large = add(fill(graph, {rows, width}, 1.0f), x);
    graph.output("first", contiguous(slice(large, 0, 0, 1)));
    graph.output("last", contiguous(slice(large, 0, rows - 1, 1)));
    State state(device);
    Program program(device, graph, state, lowering);
    program.write("x", std::vector{2.5f});
    program.run();
    for (const char* row : {"first", "last"})
        for (const float y : program.read(row))
            if (!(y == 3.5f))
                return text("the ", row, " row of a buffer of ", bytes >> 20, " MiB has ", y, ", wanted 3.5");
    return "";
}

std::string long_dispatch(Device& device, const ProgramOptions& lowering) {
    constexpr std::int64_t terms = std::int64_t{1} << 25;  // 40 ns each, or more, on a GPU
    Graph graph;
    const Tensor initial = graph.input("initial", {DType::f32, {1, 1}});
    const RunningSums sums = running_sums(fill(graph, {1, terms, 1}, 0.0f), initial, false);
    graph.output("total", sums.total);
    State state(device);
    Program program(device, graph, state, lowering);
    program.write("initial", std::vector{5.0f});
    program.run();
    const float total = program.read_scalar("total");
    return total == 5.0f ? "" : text("a long chain of additions gives ", total, ", wanted 5");
}

std::string timestamps(Device& device, const ProgramOptions& lowering) {
    if (device.info().timestamp_ns == 0) return "";
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {512, 512}});
    graph.output("y", matmul(x, x));
    State state(device);
    ProgramOptions stamped = lowering;
    stamped.stamps = true;
    Program program(device, graph, state, stamped);
    program.write("x", std::vector<float>(512 * 512, 0.5f));
    const auto start = std::chrono::steady_clock::now();
    program.run();
    const double wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    double sum = 0;
    for (const NodeTime& node : program.node_times()) sum += node.ms;
    if (!(sum > 0)) return text("timestamps say that a product takes ", sum, " ms");
    return sum <= 1.1 * wall + 0.1 ? "" : text("timestamps say that a run of ", wall, " ms takes ", sum, " ms");
}

/// Matrices were tried before the device was opened: a driver may not survive that.
std::string cooperative_matrices(Device& device, const ProgramOptions&) {
    std::string faults;
    for (const auto& [part, fault] : device.info().matrix_faults)
        faults += text(faults.empty() ? "" : "; ", part, ": ", fault);
    return faults;
}

constexpr DeviceProbe probes[] = {{matrices_probe, cooperative_matrices},
                                  {"largest buffer", largest_buffer},
                                  {"long dispatch", long_dispatch},
                                  {"timestamps", timestamps}};

}  // namespace

std::span<const DeviceProbe> device_probes() {
    return probes;
}

}  // namespace vkf::checks
