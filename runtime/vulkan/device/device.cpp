#include "vulkan/device/device.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "vulkan/commands.h"
#include "vulkan/cpu/lavapipe.h"
#include "vulkan/cpu/workers.h"
#include "vulkan/device/device_fault.h"
#include "vulkan/device/instance.h"
#include "vulkan/device/matrices.h"
#include "vulkan/handles.h"

namespace vkf {

void check(VkResult result, const char* call) {
    switch (result) {
        case VK_SUCCESS:
            return;
        case VK_ERROR_DEVICE_LOST:
            throw Error("the device was lost during ", call, " (a reset or a driver's watchdog)");
        case VK_ERROR_INCOMPATIBLE_DRIVER:
            throw Error("no Vulkan driver on this machine: install one (", cpu_driver_advice,
                        "; NVIDIA's driver finds no GPU without libEGL.so.1)");
        case VK_ERROR_OUT_OF_DEVICE_MEMORY:
            throw Error("out of device memory in ", call);
        case VK_ERROR_OUT_OF_HOST_MEMORY:
            throw Error("out of host memory in ", call);
        default:
            throw Error(call, " failed with VkResult ", static_cast<int>(result));
    }
}

void check(const DeviceHandles& handles, VkResult result, const char* call) {
    try {
        check(result, call);
    } catch (const Error& error) {
        const std::string words = result == VK_ERROR_DEVICE_LOST ? fault_words(handles) : "";
        if (words.empty()) throw;
        throw Error(error.what(), ": its driver says: ", words);
    }
}

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
    std::string digits;
    for (const std::uint8_t byte : bytes)
        for (const int nibble : {byte >> 4, byte & 15}) digits += "0123456789abcdef"[nibble];
    return digits;
}

void DeviceHandles::name(VkObjectType type, std::uint64_t handle, const std::string& text) const {
    if (!names) return;
    VkDebugUtilsObjectNameInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT;
    info.objectType = type;
    info.objectHandle = handle;
    info.pObjectName = text.c_str();
    check(vkSetDebugUtilsObjectNameEXT(device, &info), "vkSetDebugUtilsObjectNameEXT");
}

namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string one_line(const std::vector<Candidate>& list) {
    std::string joined;
    for (const Candidate& c : list)
        joined += text(joined.empty() ? "" : "; ", c.info.index, " ", c.info.name,
                       c.info.refusal.empty() ? "" : " (refused: " + c.info.refusal + ")");
    return joined;
}

/// Returns the wanted device, or the first usable one. Throws Error or InputError as Device does.
const Candidate& choose(const std::vector<Candidate>& list, const std::string& wanted) {
    if (list.empty()) throw Error("no Vulkan device on this machine: install a driver (", cpu_driver_advice, ')');
    const Candidate* chosen = nullptr;
    for (const Candidate& candidate : list) {
        const bool match = wanted.empty()      ? candidate.info.refusal.empty()
                           : is_number(wanted) ? std::to_string(candidate.info.index) == wanted
                                               : lower(candidate.info.name).find(lower(wanted)) != std::string::npos;
        if (match && !chosen) chosen = &candidate;
    }
    if (wanted.empty()) {
        if (!chosen) throw Error("no usable Vulkan device: ", one_line(list));
    } else {
        require(chosen, "no device matches '", wanted, "'; there are: ", one_line(list));
        require(chosen->info.refusal.empty(), "device ", chosen->info.index, " ", chosen->info.name, " ",
                chosen->info.refusal);
    }
    return *chosen;
}

void open_device(DeviceHandles& handles, const Candidate& from) {
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = from.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;

    VkPhysicalDeviceVulkan13Features v13{};
    v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    v13.synchronization2 = v13.maintenance4 = VK_TRUE;
    v13.computeFullSubgroups = from.subgroups.known;
    v13.subgroupSizeControl = from.subgroups.required;
    VkPhysicalDeviceVulkan12Features v12{};
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    v12.pNext = &v13;
    v12.bufferDeviceAddress = v12.timelineSemaphore = v12.subgroupBroadcastDynamicId = VK_TRUE;
    v12.shaderFloat16 = from.info.fp16;
    VkPhysicalDeviceVulkan11Features v11{};
    v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    v11.pNext = &v12;
    v11.storageBuffer16BitAccess = from.info.storage16;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &v11;
    features.features.shaderInt64 = VK_TRUE;

    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{};
    executables.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    executables.pipelineExecutableInfo = VK_TRUE;
    if (from.enables(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME)) {
        executables.pNext = features.pNext;
        features.pNext = &executables;
    }
    VkPhysicalDeviceShaderObjectFeaturesEXT shader_objects{};
    shader_objects.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT;
    shader_objects.shaderObject = VK_TRUE;
    if (from.enables(VK_EXT_SHADER_OBJECT_EXTENSION_NAME)) {
        shader_objects.pNext = features.pNext;
        features.pNext = &shader_objects;
    }
    VkPhysicalDeviceFaultFeaturesEXT device_fault{};  // every device with the extension has the feature
    device_fault.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT;
    device_fault.deviceFault = VK_TRUE;
    if (from.enables(VK_EXT_DEVICE_FAULT_EXTENSION_NAME)) {
        device_fault.pNext = features.pNext;
        features.pNext = &device_fault;
    }
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{};
    matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    matrices.cooperativeMatrix = VK_TRUE;
    Bfloat16Features bf16;
    bf16.type = bf16.cooperative_matrix = VK_TRUE;
    if (from.enables(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) {
        v12.vulkanMemoryModel = VK_TRUE;
        v13.pNext = &matrices;
    }
    if (from.enables(bfloat16_extension)) matrices.pNext = &bf16;
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV matrices2 = wanted_matrices2(!from.info.workgroup_matrices.empty());
    if (from.enables(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME)) {
        matrices2.pNext = matrices.pNext;
        matrices.pNext = &matrices2;
    }

    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &features;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<std::uint32_t>(from.extensions.size());
    info.ppEnabledExtensionNames = from.extensions.data();
    const std::vector<int> before = threads();
    check(vkCreateDevice(from.physical, &info, nullptr, &handles.device), "vkCreateDevice");
    if (from.info.kind == DeviceKind::cpu && spread_workers(before))
        handles.cpu_latency = CpuLatencyRequest(cpu_latency_file);
    volkLoadDevice(handles.device);
    vkGetDeviceQueue(handles.device, from.queue_family, 0, &handles.queue);
    handles.physical = from.physical;
    handles.queue_family = from.queue_family;
    handles.subgroups = from.subgroups;
}

void open_allocator(DeviceHandles& handles) {
    VmaVulkanFunctions functions{};
    functions.vkGetInstanceProcAddr = vkGetInstanceProcAddr;
    functions.vkGetDeviceProcAddr = vkGetDeviceProcAddr;
    VmaAllocatorCreateInfo info{};
    info.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
    if (handles.memory_budget) info.flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
    info.instance = handles.instance->handle;
    info.physicalDevice = handles.physical;
    info.device = handles.device;
    info.pVulkanFunctions = &functions;
    info.vulkanApiVersion = VK_API_VERSION_1_3;
    check(vmaCreateAllocator(&info, &handles.allocator), "vmaCreateAllocator");
}

void open_queue_objects(DeviceHandles& handles) {
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = handles.queue_family;
    check(vkCreateCommandPool(handles.device, &pool, nullptr, &handles.commands), "vkCreateCommandPool");

    VkSemaphoreTypeCreateInfo timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    timeline.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo semaphore{};
    semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    semaphore.pNext = &timeline;
    check(vkCreateSemaphore(handles.device, &semaphore, nullptr, &handles.timeline), "vkCreateSemaphore");

    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &kernel_arguments;
    check(vkCreatePipelineLayout(handles.device, &layout, nullptr, &handles.layout), "vkCreatePipelineLayout");
}

void close(DeviceHandles& from) {
    if (from.device) {
        for (const auto& [key, made] : from.kernels)
            if (from.shader_objects)
                vkDestroyShaderEXT(from.device, static_cast<VkShaderEXT>(made->handle), nullptr);
            else
                vkDestroyPipeline(from.device, static_cast<VkPipeline>(made->handle), nullptr);
        vkDestroyPipelineCache(from.device, from.cache, nullptr);
        vkDestroyPipelineLayout(from.device, from.layout, nullptr);
        vkDestroySemaphore(from.device, from.timeline, nullptr);
        vkDestroyCommandPool(from.device, from.commands, nullptr);
        vmaDestroyAllocator(from.allocator);
        vkDestroyDevice(from.device, nullptr);
    }
}

}  // namespace

Device::Device(const std::string& wanted, const std::function<void(DeviceInfo&)>& pretend, const MatrixTrial& trial)
    : handles_(std::make_unique<DeviceHandles>()) {
    handles_->instance = std::make_unique<Instance>(&handles_->validation_messages);
    const std::vector<Candidate> list = candidates(handles_->instance->handle);
    Candidate chosen = choose(list, wanted);
    complete(chosen, trial);
    info_ = chosen.info;
    if (pretend) pretend(info_);
    set_patience(chosen.info.kind == DeviceKind::cpu ? std::chrono::hours(1) : std::chrono::minutes(1));
    handles_->names = validation_wanted();
    handles_->memory_budget = chosen.enables(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    handles_->host_memory = chosen.enables(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    handles_->executable_properties = chosen.enables(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    handles_->device_fault = chosen.enables(VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    handles_->shader_objects = info_.kind == DeviceKind::cpu && chosen.enables(VK_EXT_SHADER_OBJECT_EXTENSION_NAME);
    try {
        open_device(*handles_, chosen);
        open_allocator(*handles_);
        open_queue_objects(*handles_);
        open_kernel_cache(*this);
    } catch (...) {
        close(*handles_);
        throw;
    }
}

Device::~Device() {
    try {
        wait_idle();
    } catch (const Error&) {
        // The device is lost or hangs; earlier waits have thrown the same error.
    }
    save_kernel_cache(*this);
    if (handles_->hung)
        static_cast<void>(handles_.release());  // a submission may still use its objects
    else
        close(*handles_);
}

std::uint64_t Device::allocated_bytes() const {
    std::array<VmaBudget, VK_MAX_MEMORY_HEAPS> heaps{};
    vmaGetHeapBudgets(handles_->allocator, heaps.data());
    std::uint64_t sum = 0;
    for (const VmaBudget& heap : heaps) sum += heap.statistics.allocationBytes;
    return sum;
}

std::uint64_t Device::free_bytes() const {
    std::array<VmaBudget, VK_MAX_MEMORY_HEAPS> heaps{};
    vmaGetHeapBudgets(handles_->allocator, heaps.data());
    const VkPhysicalDeviceMemoryProperties* memory = nullptr;
    vmaGetMemoryProperties(handles_->allocator, &memory);
    std::uint64_t most = 0;
    for (std::uint32_t i = 0; i < memory->memoryHeapCount; ++i)
        if (memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) {
            // Without the extension the allocator only guesses a heap's budget.
            const std::uint64_t all = handles_->memory_budget ? heaps[i].budget : memory->memoryHeaps[i].size;
            most = std::max(most, all - std::min(all, heaps[i].usage));
        }
    return info_.kind == DeviceKind::cpu ? std::min(most, free_cpu_bytes()) : most;
}

void Device::wait_idle() const {
    wait(*this, handles_->submitted);
}

std::chrono::duration<double> Device::patience() const {
    return handles_->patience;
}

void Device::set_patience(std::chrono::duration<double> longest) {
    handles_->patience = std::chrono::duration_cast<std::chrono::nanoseconds>(longest);
}

std::uint64_t Device::validation_messages() const {
    return handles_->validation_messages;
}

}  // namespace vkf
