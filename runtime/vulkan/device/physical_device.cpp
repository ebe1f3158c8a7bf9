#include "vulkan/device/physical_device.h"

#include <algorithm>
#include <vector>

#include "vulkan/cpu/cpu_latency.h"
#include "vulkan/device/queue_family.h"
#include "vulkan/handles.h"

namespace vkf {

namespace {

/// Queries a structure and three that are chained to it.
template <class Core, class V11, class V12, class V13>
void ask(VkPhysicalDevice handle, void(VKAPI_PTR* call)(VkPhysicalDevice, Core*), Core& core, V11& v11, V12& v12,
         V13& v13) {
    core.pNext = &v11;
    v11.pNext = &v12;
    v12.pNext = &v13;
    call(handle, &core);
    v11.pNext = v12.pNext = nullptr;  // pointers would be invalid in a copy of the object
}

std::set<std::string> extensions_of(VkPhysicalDevice handle) {
    const char* call = "vkEnumerateDeviceExtensionProperties";
    std::uint32_t count = 0;
    check(vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr), call);
    std::vector<VkExtensionProperties> list(count);
    check(vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, list.data()), call);
    std::set<std::string> names;
    for (const VkExtensionProperties& extension : list) names.insert(extension.extensionName);
    return names;
}

}  // namespace

PhysicalDevice::PhysicalDevice(VkPhysicalDevice handle) : extensions(extensions_of(handle)) {
    VkPhysicalDeviceProperties2 core_properties{};
    core_properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    properties12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    properties13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
    ask(handle, vkGetPhysicalDeviceProperties2, core_properties, properties11, properties12, properties13);
    properties = core_properties.properties;

    VkPhysicalDeviceFeatures2 core_features{};
    core_features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    ask(handle, vkGetPhysicalDeviceFeatures2, core_features, features11, features12, features13);
    features = core_features.features;

    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
    if (const auto family = choose_queue_family(families, wanted_queue_family())) {
        computes = true;
        queue_family = *family;
        timestamp_bits = families[*family].timestampValidBits;
    }

    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(handle, &memory);
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i)
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            memory_bytes = std::max(memory_bytes, memory.memoryHeaps[i].size);
    sleeps = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU && refuses_cpu_latency();
}

}  // namespace vkf
