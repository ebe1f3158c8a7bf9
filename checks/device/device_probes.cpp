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

/// y [groups, invocations]: shaders/check/largest_group.comp. All findings hold.
class LargestGroupOp : public Op {
public:
    LargestGroupOp(std::int64_t groups, std::uint32_t invocations, std::uint32_t shared_bytes)
        : groups_(groups), invocations_(invocations), shared_bytes_(shared_bytes) {}

    std::string_view name() const override { return "largest_group"; }

    std::vector<TensorType> infer(std::span<const TensorType>) const override {
        return {{DType::f32, {groups_, invocations_}}};
    }

    void lower(Lowering& lowering) const override {
        lowering.dispatch({.kernel = "largest_group",
                           .constants = {{"GROUP", invocations_}, {"WORDS", shared_bytes_ / 4}},
                           .args = {{"y", lowering.out[0]}, {"groups", checked_u32(groups_)}},
                           .groups = static_cast<std::uint64_t>(groups_),
                           .bytes = 4.0 * static_cast<double>(groups_ * invocations_)});
    }

private:
    std::int64_t groups_;
    std::uint32_t invocations_, shared_bytes_;
};

/// Work's fault, or the error that it throws, after the name of the limit that should allow the work.
template <class Work>
std::string within(const std::string& limit, const Work& work) {
    try {
        const std::string fault = work();
        return fault.empty() ? fault : text(limit, ": ", fault);
    } catch (const DeviceHang&) {
        throw;
    } catch (const Error& error) {
        throw Error(limit, ": ", error.what());
    }
}

/// The fault of workgroups of this size.
std::string largest_group(Device& device, const ProgramOptions& lowering, std::uint32_t invocations,
                          std::uint32_t shared_bytes) {
    constexpr std::int64_t groups = 64;
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {1}});  // a product with 1 reads what the kernel wrote
    graph.output("y", mul(add_one(graph, LargestGroupOp(groups, invocations, shared_bytes), {}), x));
    State state(device);
    ProgramOptions guarded = lowering;
    guarded.guarded = true;  // what no invocation writes is NaN
    Program program(device, graph, state, guarded);
    program.write("x", std::vector{1.0f});
    program.run();
    const std::vector<float> y = program.read("y");
    const auto wrong = std::ssize(y) - std::ranges::count(y, 1.0f);
    return wrong == 0 ? ""
                      : text(wrong, " of ", y.size(),
                             " invocations did not run, or read from shared memory what was not written there");
}

std::string largest_workgroup(Device& device, const ProgramOptions& lowering) {
    const std::uint32_t invocations = device.info().max_group;
    return within(text("maxComputeWorkGroupInvocations and maxComputeWorkgroupSubgroups, ", invocations), [&] {
        return largest_group(device, lowering, invocations, std::min(4 * invocations, device.info().shared_bytes));
    });
}

std::string all_shared_memory(Device& device, const ProgramOptions& lowering) {
    const std::uint32_t bytes = device.info().shared_bytes;
    return within(text("maxComputeSharedMemorySize ", bytes),
                  [&] { return largest_group(device, lowering, std::min(device.info().max_group, 128u), bytes); });
}

std::string largest_buffer(Device& device, const ProgramOptions& lowering) {
    const std::uint64_t most = device.info().buffer_bytes, bytes = std::min(most, device.free_bytes() / 4);
    const std::int64_t width = 1024, rows = static_cast<std::int64_t>(bytes / (width * sizeof(float)));
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {1}});
    const Tensor large = add(fill(graph, {rows, width}, 1.0f), x);
    graph.output("first", contiguous(slice(large, 0, 0, 1)));
    graph.output("last", contiguous(slice(large, 0, rows - 1, 1)));
    State state(device);
    return within(text("maxMemoryAllocationSize and maxBufferSize, ", most >> 20, " MiB"), [&]() -> std::string {
        Program program(device, graph, state, lowering);
        program.write("x", std::vector{2.5f});
        program.run();
        for (const char* row : {"first", "last"})
            for (const float y : program.read(row))
                if (!(y == 3.5f))
                    return text("the ", row, " row of a buffer of ", bytes >> 20, " MiB has ", y, ", wanted 3.5");
        return "";
    });
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

constexpr DeviceProbe probes[] = {{matrices_probe, cooperative_matrices},   {"largest workgroup", largest_workgroup},
                                  {"all shared memory", all_shared_memory}, {"largest buffer", largest_buffer},
                                  {"long dispatch", long_dispatch},         {"timestamps", timestamps}};

}  // namespace

std::span<const DeviceProbe> device_probes() {
    return probes;
}

}  // namespace vkf::checks
