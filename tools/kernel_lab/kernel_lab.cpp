// Times matrix products of plain kernels, to learn what bounds a GPU: tools/kernel-lab makes and starts it.
//
//     kernel_lab LIST [SIZE [SECONDS]]     times the kernels of the list, on squares of SIZE (4096)
//     kernel_lab --make LIST               only makes pipelines, so that the driver's cache has them
//
// A line of the list is "NAME FILE LAYOUT TILE_M TILE_N": a SPIR-V module, NN, NT or TN, and the tile of a workgroup.
// Kernels get the addresses of a, b (bfloat16) and y (fp32), then m, n and k, as push constants. A kernel works for
// SECONDS (0.25) before it is timed, because clocks of an idle GPU are low. Each line of the output has the best and
// the median speed, the largest error of 24 elements, which is not looked at where LAYOUT ends with "-", and what the
// driver tells about the pipeline.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gpu.h"

namespace {

float from_bfloat16(std::uint16_t x) {
    const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

/// Numbers between -1 and 1.
std::vector<std::uint16_t> random_numbers(std::size_t count, std::uint64_t state) {
    std::vector<std::uint16_t> list(count);
    for (std::uint16_t& x : list) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const float number = static_cast<float>(static_cast<std::int64_t>(state >> 40) - (1 << 23)) / (1 << 23);
        std::uint32_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        x = static_cast<std::uint16_t>(bits >> 16);
    }
    return list;
}

struct Kernel {
    std::string name, file, layout;
    std::uint32_t tile_m = 0, tile_n = 0;
};

std::vector<Kernel> read_list(const char* path) {
    std::ifstream file(path);
    std::vector<Kernel> list;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        if (Kernel at; words >> at.name >> at.file >> at.layout >> at.tile_m >> at.tile_n) list.push_back(at);
    }
    if (list.empty()) {
        std::fprintf(stderr, "kernel_lab: %s lists no kernels\n", path);
        std::exit(2);
    }
    return list;
}

struct Push {
    VkDeviceAddress a, b, y;
    std::uint32_t m, n, k;
};

VkPipelineLayout make_layout(const Gpu& gpu) {
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    VkPipelineLayout layout;
    check(vkCreatePipelineLayout(gpu.device(), &info, nullptr, &layout), "layout");
    return layout;
}

/// Pipeline with full subgroups of 32, if the device has them; null if the module cannot be read or the driver refuses
/// it.
VkPipeline make_pipeline(const Gpu& gpu, VkPipelineLayout layout, const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string code((std::istreambuf_iterator<char>(file)), {});
    VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module_info.codeSize = code.size();
    module_info.pCode = reinterpret_cast<const std::uint32_t*>(code.data());
    VkShaderModule module;
    if (code.empty() || vkCreateShaderModule(gpu.device(), &module_info, nullptr, &module)) return VK_NULL_HANDLE;
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr, 32};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    const bool full = gpu.has_subgroups_of(32);
    info.flags = vkGetPipelineExecutableStatisticsKHR ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR : 0;
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  full ? &subgroup : nullptr,
                  full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0u,
                  VK_SHADER_STAGE_COMPUTE_BIT,
                  module,
                  "main",
                  nullptr};
    info.layout = layout;
    VkPipeline made = VK_NULL_HANDLE;
    vkCreateComputePipelines(gpu.device(), VK_NULL_HANDLE, 1, &info, nullptr, &made);
    vkDestroyShaderModule(gpu.device(), module, nullptr);
    return made;
}

/// Registers, bytes of shared memory and whatever else the driver tells about a pipeline.
std::string statistics(const Gpu& gpu, VkPipeline pipeline) {
    if (!vkGetPipelineExecutableStatisticsKHR) return "";
    const VkPipelineExecutableInfoKHR of{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, 0};
    std::uint32_t count = 0;
    vkGetPipelineExecutableStatisticsKHR(gpu.device(), &of, &count, nullptr);
    std::vector<VkPipelineExecutableStatisticKHR> list(count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
    vkGetPipelineExecutableStatisticsKHR(gpu.device(), &of, &count, list.data());
    std::string words;
    for (const auto& at : list)
        if (at.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR)
            words += std::string(", ") + at.name + " " + std::to_string(at.value.u64);
    return words;
}

/// The operands, the result, and their copies here.
struct Square {
    std::uint32_t size;
    std::vector<std::uint16_t> host_a, host_b;
    Buffer a, b, y, staging;

    Square(const Gpu& gpu, std::uint32_t extent)
        : size(extent),
          host_a(random_numbers(std::size_t{extent} * extent, 1)),
          host_b(random_numbers(std::size_t{extent} * extent, 2)) {
        const VkDeviceSize bytes = host_a.size() * 2;
        a = gpu.buffer(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        b = gpu.buffer(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        y = gpu.buffer(2 * bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        staging = gpu.buffer(2 * bytes, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
        std::memcpy(staging.mapped, host_a.data(), bytes);
        gpu.copy(staging, a, bytes);
        std::memcpy(staging.mapped, host_b.data(), bytes);
        gpu.copy(staging, b, bytes);
    }

    /// Largest error of 24 elements of y; infinite if one is not finite.
    double error(const Gpu& gpu, const std::string& layout) const {
        gpu.copy(y, staging, 4 * host_a.size());
        const auto* found = static_cast<const float*>(staging.mapped);
        double largest = 0;
        for (std::size_t t = 0; t < 24; ++t) {
            const std::size_t row = t * 102947 % size, column = t * 104729 % size;
            double wanted = 0;
            for (std::size_t k = 0; k < size; ++k)
                wanted +=
                    static_cast<double>(from_bfloat16(host_a[layout[0] == 'T' ? k * size + row : row * size + k])) *
                    from_bfloat16(host_b[layout[1] == 'T' ? column * size + k : k * size + column]);
            const double off = std::abs(wanted - found[row * size + column]);
            largest = std::isfinite(off) ? std::max(largest, off) : HUGE_VAL;
        }
        return largest;
    }
};

/// Seconds of each of several launches, sorted. Empty if the device did not finish.
std::vector<double> times(const Gpu& gpu, const Square& on, VkPipelineLayout layout, VkPipeline pipeline,
                          const Kernel& kernel, double warm_up) {
    constexpr std::uint32_t launches = 20;
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = launches + 1;
    VkQueryPool stamps;
    check(vkCreateQueryPool(gpu.device(), &info, nullptr, &stamps), "timestamps");
    const Push push{on.a.address, on.b.address, on.y.address, on.size, on.size, on.size};
    const auto launch = [&](std::uint32_t count) {
        return gpu.run([&](VkCommandBuffer commands) {
            vkCmdResetQueryPool(commands, stamps, 0, launches + 1);
            vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
            vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
            for (std::uint32_t i = 0; i < count; ++i) {
                vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, i);
                vkCmdDispatch(commands, on.size / kernel.tile_m * (on.size / kernel.tile_n), 1, 1);
                const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                                          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
                vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &all, 0, nullptr, 0, nullptr);
            }
            vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, count);
        });
    };
    using Clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    bool runs = launch(1);
    for (const auto begin = Clock::now(); runs && Clock::now() - begin < std::chrono::duration<double>(warm_up);)
        runs = launch(launches);
    if (runs && launch(launches)) {
        std::vector<std::uint64_t> ticks(launches + 1);
        vkGetQueryPoolResults(gpu.device(), stamps, 0, launches + 1, ticks.size() * 8, ticks.data(), 8,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        for (std::uint32_t i = 0; i < launches; ++i)
            seconds.push_back(static_cast<double>(ticks[i + 1] - ticks[i]) * gpu.nanoseconds() * 1e-9);
        std::ranges::sort(seconds);
    }
    vkDestroyQueryPool(gpu.device(), stamps, nullptr);
    return seconds;
}

}  // namespace

int main(int argc, char** argv) {
    const bool only_make = argc == 3 && !std::strcmp(argv[1], "--make");
    if (argc < 2 || argc > 4) {
        std::fprintf(stderr, "kernel_lab: wanted LIST [SIZE [SECONDS]] or --make LIST\n");
        return 2;
    }
    const std::vector<Kernel> list = read_list(argv[only_make ? 2 : 1]);
    const auto size = static_cast<std::uint32_t>(!only_make && argc > 2 ? std::atoi(argv[2]) : 4096);
    const double warm_up = argc > 3 ? std::atof(argv[3]) : 0.25;
    const Gpu gpu;
    const VkPipelineLayout layout = make_layout(gpu);
    const Square on(gpu, only_make ? 16 : size);
    int status = 0;
    for (const Kernel& kernel : list) {
        const VkPipeline pipeline = make_pipeline(gpu, layout, kernel.file);
        if (!pipeline) {
            std::printf("%-32s is refused\n", kernel.name.c_str());
            status = 1;
            continue;
        }
        if (!only_make) {
            gpu.run([&](VkCommandBuffer commands) { vkCmdFillBuffer(commands, on.y.buffer, 0, VK_WHOLE_SIZE, ~0u); });
            const std::vector<double> seconds = times(gpu, on, layout, pipeline, kernel, warm_up);
            if (seconds.empty()) {
                std::printf("%-32s was not finished: the device is lost\n", kernel.name.c_str());
                return 1;
            }
            const double work = 2e-12 * size * size * size;
            const std::string error =
                kernel.layout.ends_with("-") ? "" : ", error " + std::to_string(on.error(gpu, kernel.layout));
            std::printf("%-32s %7.1f TFLOP/s, median %.1f%s%s\n", kernel.name.c_str(), work / seconds.front(),
                        work / seconds[seconds.size() / 2], error.c_str(), statistics(gpu, pipeline).c_str());
            std::fflush(stdout);
        }
        vkDestroyPipeline(gpu.device(), pipeline, nullptr);
    }
    return status;
}
