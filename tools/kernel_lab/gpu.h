// The first Vulkan device, as plainly as possible, for kernel_lab.cpp. Errors end the program with a line.
#pragma once

#define VOLK_IMPLEMENTATION
#include <volk.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

// VK_KHR_shader_bfloat16, which older headers lack.
struct Bfloat16Features {
    VkStructureType sType = static_cast<VkStructureType>(1000141000);
    void* pNext = nullptr;
    VkBool32 type = VK_TRUE, dot_product = VK_FALSE, matrices = VK_TRUE;
};

inline void check(VkResult result, const char* what) {
    if (result == VK_SUCCESS) return;
    std::fprintf(stderr, "kernel_lab: %s: VkResult %d\n", what, result);
    std::exit(1);
}

struct Buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceAddress address = 0;
    void* mapped = nullptr;
};

/// The first device, with a queue and a command buffer. All lives until the program ends.
class Gpu {
public:
    Gpu() {
        check(volkInitialize(), "no Vulkan loader");
        VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
        app.apiVersion = VK_API_VERSION_1_3;
        VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
        instance_info.pApplicationInfo = &app;
        VkInstance instance;
        check(vkCreateInstance(&instance_info, nullptr, &instance), "instance");
        volkLoadInstance(instance);
        std::uint32_t count = 1;
        if (vkEnumeratePhysicalDevices(instance, &count, &physical_); count == 0) check(VK_ERROR_UNKNOWN, "no device");
        VkPhysicalDeviceVulkan13Properties subgroups{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
        VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroups, {}};
        vkGetPhysicalDeviceProperties2(physical_, &properties);
        nanoseconds_ = properties.properties.limits.timestampPeriod;
        least_subgroup_ = subgroups.minSubgroupSize;
        largest_subgroup_ = subgroups.maxSubgroupSize;
        std::printf("%s, %u bytes of shared memory\n", properties.properties.deviceName,
                    properties.properties.limits.maxComputeSharedMemorySize);
        make_device();
    }

    VkDevice device() const { return device_; }
    double nanoseconds() const { return nanoseconds_; }
    bool has_subgroups_of(std::uint32_t size) const { return least_subgroup_ <= size && size <= largest_subgroup_; }

    Buffer buffer(VkDeviceSize bytes, VkMemoryPropertyFlags wanted) const {
        Buffer made;
        VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
        info.size = bytes;
        info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                     VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        check(vkCreateBuffer(device_, &info, nullptr, &made.buffer), "buffer");
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
        VkPhysicalDeviceMemoryProperties types;
        vkGetPhysicalDeviceMemoryProperties(physical_, &types);
        std::uint32_t type = 0;
        while (!(needs.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & wanted) != wanted)
            ++type;
        const VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, nullptr,
                                              VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
        const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, needs.size, type};
        VkDeviceMemory memory;
        check(vkAllocateMemory(device_, &allocate, nullptr, &memory), "memory");
        check(vkBindBufferMemory(device_, made.buffer, memory, 0), "memory");
        const VkBufferDeviceAddressInfo at{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, made.buffer};
        made.address = vkGetBufferDeviceAddress(device_, &at);
        if (wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
            check(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &made.mapped), "memory");
        return made;
    }

    /// Records commands, submits them and waits. Returns false if the device did not finish them.
    bool run(const std::function<void(VkCommandBuffer)>& record) const {
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0, nullptr};
        check(vkBeginCommandBuffer(commands_, &begin), "commands");
        record(commands_);
        check(vkEndCommandBuffer(commands_), "commands");
        VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands_;
        return vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS && vkQueueWaitIdle(queue_) == VK_SUCCESS;
    }

    void copy(const Buffer& from, const Buffer& to, VkDeviceSize bytes) const {
        run([&](VkCommandBuffer commands) {
            const VkBufferCopy all{0, 0, bytes};
            vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &all);
        });
    }

private:
    void make_device() {
        std::uint32_t count = 0;
        vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, nullptr);
        std::vector<VkExtensionProperties> listed(count);
        vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, listed.data());
        std::vector<const char*> names;
        void* chain = nullptr;
        const auto use = [&](const char* name, auto& features) {
            if (std::ranges::none_of(listed, [&](const auto& at) { return !std::strcmp(at.extensionName, name); }))
                return;
            names.push_back(name);
            features.pNext = std::exchange(chain, &features);
        };
        VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, nullptr, VK_TRUE, VK_FALSE};
        VkPhysicalDeviceCooperativeMatrix2FeaturesNV matrices2{
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV,
            nullptr,
            VK_TRUE,
            VK_TRUE,
            VK_TRUE,
            VK_TRUE,
            VK_TRUE,
            VK_TRUE,
            VK_TRUE};
        VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, nullptr, VK_TRUE};
        Bfloat16Features bfloat16;
        use("VK_KHR_cooperative_matrix", matrices);
        use("VK_NV_cooperative_matrix2", matrices2);
        use("VK_KHR_shader_bfloat16", bfloat16);
        use("VK_KHR_pipeline_executable_properties", executables);
        VkPhysicalDeviceVulkan11Features v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, chain};
        v11.storageBuffer16BitAccess = VK_TRUE;
        VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &v11};
        v12.bufferDeviceAddress = v12.shaderFloat16 = v12.vulkanMemoryModel = v12.scalarBlockLayout = VK_TRUE;
        VkPhysicalDeviceVulkan13Features v13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &v12};
        v13.subgroupSizeControl = v13.computeFullSubgroups = v13.maintenance4 = VK_TRUE;
        VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v13, {}};
        features.features.shaderInt64 = features.features.shaderInt16 = VK_TRUE;
        const float priority = 1;
        VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
        info.enabledExtensionCount = static_cast<std::uint32_t>(names.size());
        info.ppEnabledExtensionNames = names.data();
        check(vkCreateDevice(physical_, &info, nullptr, &device_), "device");
        volkLoadDevice(device_);
        vkGetDeviceQueue(device_, 0, 0, &queue_);
        const VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                                VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, 0};
        VkCommandPool pool;
        check(vkCreateCommandPool(device_, &pool_info, nullptr, &pool), "commands");
        const VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool,
                                                   VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        check(vkAllocateCommandBuffers(device_, &commands, &commands_), "commands");
    }

    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    double nanoseconds_ = 1;
    std::uint32_t least_subgroup_ = 0, largest_subgroup_ = 0;
};
