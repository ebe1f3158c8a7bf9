#include "vulkan/device/driver_statistics.h"

#include <chrono>

#include "base/error.h"
#include "vulkan/device/device.h"
#include "vulkan/handles.h"

namespace vkf {

namespace {

/// Vulkan's usual two calls: one for the number of items, one for the items.
template <class Item, class Call>
std::vector<Item> listed(VkStructureType type, const char* name, const Call& call) {
    Item empty{};
    empty.sType = type;
    std::uint32_t count = 0;
    check(call(&count, nullptr), name);
    std::vector<Item> list(count, empty);
    check(call(&count, list.data()), name);
    return list;
}

double number_of(const VkPipelineExecutableStatisticKHR& statistic) {
    switch (statistic.format) {
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
            return statistic.value.b32 ? 1 : 0;
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
            return static_cast<double>(statistic.value.i64);
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
            return static_cast<double>(statistic.value.u64);
        default:
            return statistic.value.f64;
    }
}

/// An executable's representations that are texts.
std::vector<std::pair<std::string, std::string>> texts_of(VkDevice device,
                                                          const VkPipelineExecutableInfoKHR& executable) {
    using Representation = VkPipelineExecutableInternalRepresentationKHR;
    std::vector<std::string> contents;
    const auto call = [&](std::uint32_t* count, Representation* list) {
        return vkGetPipelineExecutableInternalRepresentationsKHR(device, &executable, count, list);
    };
    const char* name = "vkGetPipelineExecutableInternalRepresentationsKHR";
    std::vector<Representation> list =
        listed<Representation>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR, name, call);
    for (const Representation& at : list) contents.emplace_back(at.dataSize, '\0');
    for (std::size_t i = 0; i < list.size(); ++i) list[i].pData = contents[i].data();
    auto count = static_cast<std::uint32_t>(list.size());
    check(call(&count, list.data()), name);
    std::vector<std::pair<std::string, std::string>> made;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].isText) made.emplace_back(list[i].name, contents[i].c_str());  // cut at the terminating zero
    return made;
}

struct OwnPipeline {
    VkDevice device;
    VkPipeline handle;

    OwnPipeline(VkDevice owner, VkPipeline made) : device(owner), handle(made) {}
    OwnPipeline(const OwnPipeline&) = delete;
    OwnPipeline& operator=(const OwnPipeline&) = delete;
    ~OwnPipeline() { vkDestroyPipeline(device, handle, nullptr); }
};

}  // namespace

bool has_driver_statistics(const Device& device) {
    return device.handles().executable_properties;
}

DriverStatistics driver_statistics(const Device& device, const KernelRequest& kernel) {
    const DeviceHandles& handles = device.handles();
    if (!has_driver_statistics(device)) throw Error(device.info().name, " says nothing of its pipelines");
    const Kernel described = describe_kernel(kernel.name);
    DriverStatistics made;
    const auto start = std::chrono::steady_clock::now();
    const OwnPipeline pipeline{handles.device,
                               make_pipeline(device, described, kernel, VK_NULL_HANDLE,
                                             VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                                                 VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR)};
    made.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();

    VkPipelineInfoKHR of{};
    of.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR;
    of.pipeline = pipeline.handle;
    const auto executables = listed<VkPipelineExecutablePropertiesKHR>(
        VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR, "vkGetPipelineExecutablePropertiesKHR",
        [&](std::uint32_t* count, VkPipelineExecutablePropertiesKHR* list) {
            return vkGetPipelineExecutablePropertiesKHR(handles.device, &of, count, list);
        });
    if (executables.empty()) throw Error(device.info().name, " made kernel ", kernel.name, " and says nothing of it");
    // If a driver makes several, it chooses one at each launch; the last is the most parallel.
    VkPipelineExecutableInfoKHR last{};
    last.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR;
    last.pipeline = pipeline.handle;
    last.executableIndex = static_cast<std::uint32_t>(executables.size() - 1);
    const auto statistics = listed<VkPipelineExecutableStatisticKHR>(
        VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR, "vkGetPipelineExecutableStatisticsKHR",
        [&](std::uint32_t* count, VkPipelineExecutableStatisticKHR* list) {
            return vkGetPipelineExecutableStatisticsKHR(handles.device, &last, count, list);
        });
    for (const VkPipelineExecutableStatisticKHR& at : statistics) made.numbers.emplace_back(at.name, number_of(at));
    made.texts = texts_of(handles.device, last);
    return made;
}

}  // namespace vkf
