// A Vulkan layer that gives a driver faults, for the test of `vkformer check`. $VKFORMER_FAULT says which:
//   wrong         kernels that take a square root get their argument instead
//   truncated     kernels that round to bfloat16 do not round, but cut digits off
//   crash, hang   the process dies when such a kernel is made, or making it does not end
//   lost          the device is lost when a kernel with a square root was made, and VK_EXT_device_fault tells why
//   subgroup      the device says that its subgroups have twice their size
//   asked_crash, asked_hang
//                 the process dies, or waits forever, when the driver is asked for its cooperative matrices
//   matrices      products by cooperative matrices are 0
//   matrix_crash  the process dies when a kernel with cooperative matrices is made
//   shared        the device claims twice its shared memory; kernels that take more than it has cannot be made
//   invocations   of a workgroup no more than 128 invocations run, although the device says that it has more
//   memory        allocations of more than 64 MiB fail, which the device says it can make
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "faults/faulty_kernels.h"

namespace {

// --- Next functions ------------------------------------------------------------------------------

// The same for all instances and devices of a process, since there is one layer and one driver.
PFN_vkGetInstanceProcAddr next_instance = nullptr;
PFN_vkGetDeviceProcAddr next_device = nullptr;
PFN_GetPhysicalDeviceProcAddr next_physical = nullptr;
PFN_vkGetPhysicalDeviceProperties2 next_properties = nullptr;
PFN_vkEnumerateDeviceExtensionProperties next_extensions = nullptr;
VkInstance the_instance = VK_NULL_HANDLE;  // the last one

template <class Function>
Function device_function(VkDevice device, const char* name) {
    return reinterpret_cast<Function>(next_device(device, name));
}

template <class Info>
Info* link_info(const void* chain, VkStructureType type) {
    auto* info = static_cast<const Info*>(chain);
    while (info && !(info->sType == type && info->function == VK_LAYER_LINK_INFO))
        info = static_cast<const Info*>(info->pNext);
    return const_cast<Info*>(info);
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* memory,
                                               VkInstance* instance) {
    auto* link = link_info<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next_physical = link->u.pLayerInfo->pfnNextGetPhysicalDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(next(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, memory, instance);
    if (result != VK_SUCCESS) return result;
    next_instance = next;
    the_instance = *instance;
    // Later, the same question is answered with the function of the first layer, which is this one.
    next_properties =
        reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(next(*instance, "vkGetPhysicalDeviceProperties2"));
    next_extensions = reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(
        next(*instance, "vkEnumerateDeviceExtensionProperties"));
    return result;
}

/// Extension that the driver need not have; null if the fault needs none.
const char* added_extension() {
    if (fault().starts_with("asked_")) return VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME;
    return fault() == "lost" ? VK_EXT_DEVICE_FAULT_EXTENSION_NAME : nullptr;
}

bool is_added(const char* name) {
    return added_extension() && std::strcmp(name, added_extension()) == 0;
}

VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice physical, const char* layer, std::uint32_t* count,
                                               VkExtensionProperties* properties) {
    if (layer || !added_extension()) return next_extensions(physical, layer, count, properties);
    std::uint32_t known = 0;
    next_extensions(physical, nullptr, &known, nullptr);
    std::vector<VkExtensionProperties> list(known);
    next_extensions(physical, nullptr, &known, list.data());
    if (std::ranges::none_of(list, [](const auto& at) { return is_added(at.extensionName); })) {
        VkExtensionProperties& added = list.emplace_back();
        std::strncpy(added.extensionName, added_extension(), VK_MAX_EXTENSION_NAME_SIZE - 1);
        added.specVersion = 1;
    }
    const auto all = static_cast<std::uint32_t>(list.size());
    *count = properties ? std::min(*count, all) : all;
    if (properties) std::copy_n(list.begin(), *count, properties);
    return VK_SUCCESS;
}

/// Takes a structure out of a chain.
void unlink(const void* chain, VkStructureType type) {
    for (auto* at = static_cast<VkBaseOutStructure*>(const_cast<void*>(chain)); at; at = at->pNext)
        if (at->pNext && at->pNext->sType == type) at->pNext = at->pNext->pNext;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* memory, VkDevice* device) {
    auto* link = link_info<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    const PFN_vkGetInstanceProcAddr instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    const PFN_vkGetDeviceProcAddr next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(instance(the_instance, "vkCreateDevice"));
    std::vector<const char*> extensions;
    std::copy_if(info->ppEnabledExtensionNames, info->ppEnabledExtensionNames + info->enabledExtensionCount,
                 std::back_inserter(extensions), [](const char* name) { return fault() != "lost" || !is_added(name); });
    VkDeviceCreateInfo changed = *info;
    changed.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    changed.ppEnabledExtensionNames = extensions.data();
    if (fault() == "lost") unlink(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT);
    const VkResult result = create(physical, &changed, memory, device);
    if (result != VK_SUCCESS) return result;
    next_device = next;
    return result;
}

// --- Faults of kernels ---------------------------------------------------------------------------

std::atomic<bool> is_lost = false;

VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* memory, VkShaderModule* shader) {
    const FaultyKernel kernel = faulty(info->pCode, info->codeSize);
    fail_at(kernel);
    VkShaderModuleCreateInfo changed = *info;
    changed.pCode = kernel.words.data();
    return device_function<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule")(device, &changed, memory, shader);
}

VKAPI_ATTR VkResult VKAPI_CALL create_shaders(VkDevice device, std::uint32_t count, const VkShaderCreateInfoEXT* infos,
                                              const VkAllocationCallbacks* memory, VkShaderEXT* shaders) {
    const auto next = device_function<PFN_vkCreateShadersEXT>(device, "vkCreateShadersEXT");
    for (std::uint32_t i = 0; i < count; ++i) {
        VkShaderCreateInfoEXT info = infos[i];
        FaultyKernel kernel;
        if (info.codeType == VK_SHADER_CODE_TYPE_SPIRV_EXT) {
            kernel = faulty(static_cast<const std::uint32_t*>(info.pCode), info.codeSize);
            fail_at(kernel);
            if (shares_too_much(kernel, info.pSpecializationInfo)) return VK_ERROR_INITIALIZATION_FAILED;
            if (kernel.root && fault() == "lost") is_lost = true;
            info.pCode = kernel.words.data();
            info.pSpecializationInfo = with_real_group(info.pSpecializationInfo);
        }
        if (const VkResult result = next(device, 1, &info, memory, shaders + i); result != VK_SUCCESS) return result;
    }
    return VK_SUCCESS;
}

// --- A lost device -------------------------------------------------------------------------------

/// Waits first, since the real device goes on and uses what will be freed.
VkResult lose(VkDevice device) {
    device_function<PFN_vkDeviceWaitIdle>(device, "vkDeviceWaitIdle")(device);
    return VK_ERROR_DEVICE_LOST;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo* info, std::uint64_t most) {
    if (is_lost) return lose(device);
    return device_function<PFN_vkWaitSemaphores>(device, "vkWaitSemaphores")(device, info, most);
}

VKAPI_ATTR VkResult VKAPI_CALL semaphore_value(VkDevice device, VkSemaphore semaphore, std::uint64_t* value) {
    if (is_lost) return lose(device);
    return device_function<PFN_vkGetSemaphoreCounterValue>(device, "vkGetSemaphoreCounterValue")(device, semaphore,
                                                                                                 value);
}

VKAPI_ATTR VkResult VKAPI_CALL fault_info(VkDevice, VkDeviceFaultCountsEXT* counts, VkDeviceFaultInfoEXT* info) {
    if (!info) {
        counts->addressInfoCount = counts->vendorInfoCount = 1;
        counts->vendorBinarySize = 0;
        return VK_SUCCESS;
    }
    std::strcpy(info->description, "a page was read\nthat no buffer \x1b[31mhas");
    if (counts->addressInfoCount > 0)
        *info->pAddressInfos = {VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT, 0x12345678, 4096};
    if (counts->vendorInfoCount > 0) {
        std::strcpy(info->pVendorInfos->description, "wave stopped");
        info->pVendorInfos->vendorFaultCode = 7, info->pVendorInfos->vendorFaultData = 0x99;
    }
    return VK_SUCCESS;
}

// --- Faults of the device ------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL list_matrices(VkPhysicalDevice, std::uint32_t*, VkCooperativeMatrixPropertiesKHR*) {
    while (fault() == "asked_hang") ::pause();
    std::raise(SIGSEGV);
    return VK_ERROR_UNKNOWN;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* memory, VkDeviceMemory* made) {
    constexpr VkDeviceSize most = 64 << 20;
    if (fault() == "memory" && info->allocationSize > most) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return device_function<PFN_vkAllocateMemory>(device, "vkAllocateMemory")(device, info, memory, made);
}

VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties2* properties) {
    next_properties(physical, properties);
    VkPhysicalDeviceLimits& limits = properties->properties.limits;
    if (fault() == "shared") limits.maxComputeSharedMemorySize = 2 * real_shared_bytes;
    if (fault() != "subgroup") return;
    for (auto* at = static_cast<VkBaseOutStructure*>(properties->pNext); at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
            reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(at)->subgroupSize *= 2;
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)
            reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(at)->subgroupSize *= 2;
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES) {
            auto* sizes = reinterpret_cast<VkPhysicalDeviceVulkan13Properties*>(at);
            sizes->minSubgroupSize *= 2, sizes->maxSubgroupSize *= 2;
        }
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES) {
            auto* sizes = reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlProperties*>(at);
            sizes->minSubgroupSize *= 2, sizes->maxSubgroupSize *= 2;
        }
    }
}

template <class Function>
PFN_vkVoidFunction untyped(Function function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction own_function(std::string_view name) {
    if (name == "vkCreateInstance") return untyped(create_instance);
    if (name == "vkCreateDevice") return untyped(create_device);
    if (name == "vkEnumerateDeviceExtensionProperties") return untyped(list_extensions);
    if (name == "vkGetPhysicalDeviceProperties2") return untyped(get_properties);
    if (name == "vkCreateShaderModule") return untyped(create_shader_module);
    if (name == "vkCreateShadersEXT") return untyped(create_shaders);
    if (name == "vkAllocateMemory") return untyped(allocate_memory);
    if (name == "vkWaitSemaphores") return untyped(wait_semaphores);
    if (name == "vkGetSemaphoreCounterValue") return untyped(semaphore_value);
    if (name == "vkGetDeviceFaultInfoEXT" && fault() == "lost") return untyped(fault_info);
    if (name == "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR" && fault().starts_with("asked_"))
        return untyped(list_matrices);
    return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_physical_proc_addr(VkInstance instance, const char* name) {
    if (std::string_view(name) == "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR")
        if (const PFN_vkVoidFunction own = own_function(name)) return own;
    return next_physical ? next_physical(instance, name) : nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return untyped(get_device_proc_addr);
    if (const PFN_vkVoidFunction own = own_function(name)) return own;
    return next_device(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return untyped(get_device_proc_addr);
    if (const PFN_vkVoidFunction own = own_function(name)) return own;
    return next_instance ? next_instance(instance, name) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = get_instance_proc_addr;
    version->pfnGetDeviceProcAddr = get_device_proc_addr;
    version->pfnGetPhysicalDeviceProcAddr = get_physical_proc_addr;
    return VK_SUCCESS;
}
