// A Vulkan layer that gives a driver faults, for the test of `vkformer check`. $VKFORMER_FAULT says which:
//   wrong     kernels that take a square root get their argument instead
//   truncated kernels that round to bfloat16 do not round, but cut digits off
//   crash     the process dies when such a kernel is made
//   hang      making such a kernel does not end
//   subgroup  the device says that its subgroups have twice their size
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

std::string_view fault() {
    const char* word = std::getenv("VKFORMER_FAULT");
    return word ? word : "";
}

// --- SPIR-V --------------------------------------------------------------------------------------

constexpr std::uint32_t OP_EXT_INST = 12, OP_CONSTANT = 43, FABS = 4, SQRT = 31, HALF_OF_BFLOAT16 = 0x7fff;

/// Code with the fault. `found` becomes true if the code has a square root.
std::vector<std::uint32_t> faulty(const std::uint32_t* code, std::size_t bytes, bool& found) {
    std::vector<std::uint32_t> words(code, code + bytes / 4);
    for (std::size_t at = 5; at < words.size() && words[at] >> 16 != 0; at += words[at] >> 16) {
        const std::uint32_t op = words[at] & 0xffff;
        if (op == OP_EXT_INST && words[at + 4] == SQRT) {
            found = true;
            if (fault() == "wrong") words[at + 4] = FABS;
        }
        if (op == OP_CONSTANT && words[at + 3] == HALF_OF_BFLOAT16 && fault() == "truncated") words[at + 3] = 0;
    }
    return words;
}

void fail_if_found(bool found) {
    if (found && fault() == "crash") std::raise(SIGSEGV);
    while (found && fault() == "hang") ::pause();
}

// --- Next functions ------------------------------------------------------------------------------

// The same for all instances and devices of a process, since there is one layer and one driver.
PFN_vkGetInstanceProcAddr next_instance = nullptr;
PFN_vkGetDeviceProcAddr next_device = nullptr;
PFN_vkGetPhysicalDeviceProperties2 next_properties = nullptr;
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
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(next(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, memory, instance);
    if (result != VK_SUCCESS) return result;
    next_instance = next;
    the_instance = *instance;
    // Later, the same question is answered with the function of the first layer, which is this one.
    next_properties =
        reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(next(*instance, "vkGetPhysicalDeviceProperties2"));
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* memory, VkDevice* device) {
    auto* link = link_info<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    const PFN_vkGetInstanceProcAddr instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    const PFN_vkGetDeviceProcAddr next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(instance(the_instance, "vkCreateDevice"));
    const VkResult result = create(physical, info, memory, device);
    if (result != VK_SUCCESS) return result;
    next_device = next;
    return result;
}

// --- Faults --------------------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* memory, VkShaderModule* shader) {
    bool found = false;
    const std::vector<std::uint32_t> code = faulty(info->pCode, info->codeSize, found);
    fail_if_found(found);
    VkShaderModuleCreateInfo changed = *info;
    changed.pCode = code.data();
    return device_function<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule")(device, &changed, memory, shader);
}

VKAPI_ATTR VkResult VKAPI_CALL create_shaders(VkDevice device, std::uint32_t count, const VkShaderCreateInfoEXT* infos,
                                              const VkAllocationCallbacks* memory, VkShaderEXT* shaders) {
    const auto next = device_function<PFN_vkCreateShadersEXT>(device, "vkCreateShadersEXT");
    std::vector<VkShaderCreateInfoEXT> changed(infos, infos + count);
    std::vector<std::vector<std::uint32_t>> codes;
    for (VkShaderCreateInfoEXT& info : changed) {
        if (info.codeType != VK_SHADER_CODE_TYPE_SPIRV_EXT) continue;
        bool found = false;
        codes.push_back(faulty(static_cast<const std::uint32_t*>(info.pCode), info.codeSize, found));
        fail_if_found(found);
        info.pCode = codes.back().data();
    }
    return next(device, count, changed.data(), memory, shaders);
}

VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties2* properties) {
    next_properties(physical, properties);
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

PFN_vkVoidFunction own_function(std::string_view name) {
    if (name == "vkCreateInstance") return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
    if (name == "vkCreateDevice") return reinterpret_cast<PFN_vkVoidFunction>(create_device);
    if (name == "vkCreateShaderModule") return reinterpret_cast<PFN_vkVoidFunction>(create_shader_module);
    if (name == "vkCreateShadersEXT") return reinterpret_cast<PFN_vkVoidFunction>(create_shaders);
    if (name == "vkGetPhysicalDeviceProperties2") return reinterpret_cast<PFN_vkVoidFunction>(get_properties);
    return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(get_device_proc_addr);
    if (const PFN_vkVoidFunction own = own_function(name)) return own;
    return next_device(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(get_device_proc_addr);
    if (const PFN_vkVoidFunction own = own_function(name)) return own;
    return next_instance ? next_instance(instance, name) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = get_instance_proc_addr;
    version->pfnGetDeviceProcAddr = get_device_proc_addr;
    version->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}
