#include "vulkan/device/instance.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/text/plain_text.h"
#include "vulkan/cpu/lavapipe.h"
#include "vulkan/device/loader.h"
#include "vulkan/handles.h"

namespace vkf {

namespace {

#ifdef _WIN32
constexpr const char* LOADER = "vulkan-1.dll";
#else
constexpr const char* LOADER = "libvulkan.so.1";
#endif

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* counter) {
    tell(text("vkformer: validation: ", data->pMessage));
    if (counter) ++*static_cast<std::atomic<std::uint64_t>*>(counter);
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(std::atomic<std::uint64_t>* messages) {
    VkDebugUtilsMessengerCreateInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
    info.pfnUserCallback = on_message;
    info.pUserData = messages;
    return info;
}

bool layer_present(const char* name) {
    std::uint32_t count = 0;
    check(vkEnumerateInstanceLayerProperties(&count, nullptr), "vkEnumerateInstanceLayerProperties");
    std::vector<VkLayerProperties> layers(count);
    check(vkEnumerateInstanceLayerProperties(&count, layers.data()), "vkEnumerateInstanceLayerProperties");
    for (const VkLayerProperties& layer : layers)
        if (std::strcmp(layer.layerName, name) == 0) return true;
    return false;
}

/// True if the loader can list devices that do not fully conform to Vulkan, such as Apple's GPUs under MoltenVK: it
/// hides them unless asked (vulkan/device/requirements.h).
bool can_list_portable_devices() {
    const char* call = "vkEnumerateInstanceExtensionProperties";
    std::uint32_t count = 0;
    check(vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr), call);
    std::vector<VkExtensionProperties> list(count);
    check(vkEnumerateInstanceExtensionProperties(nullptr, &count, list.data()), call);
    return std::ranges::any_of(list, [](const VkExtensionProperties& at) {
        return std::strcmp(at.extensionName, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0;
    });
}

}  // namespace

bool Candidate::enables(std::string_view extension) const {
    return std::ranges::find(extensions, extension) != extensions.end();
}

bool validation_wanted() {
    if (const char* value = std::getenv("VKFORMER_VALIDATION")) return std::strcmp(value, "0") != 0;
#ifdef VKFORMER_VALIDATION
    return true;
#else
    return false;
#endif
}

Instance::Instance(std::atomic<std::uint64_t>* messages) {
    widen_cpu_subgroups();
    require_driver_address_space();
    if (!open_vulkan_loader()) throw Error("no Vulkan loader (", LOADER, ") on this machine");
    if (volkGetInstanceVersion() < VK_API_VERSION_1_3) throw Error("the Vulkan loader is older than 1.3");

    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pApplicationName = "vkformer";
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;

    const char* layer = "VK_LAYER_KHRONOS_validation";
    std::vector<const char*> extensions;
    if (can_list_portable_devices()) {
        extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
        info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    const VkValidationFeatureEnableEXT enables[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT features{};
    features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = enables;
    auto messenger_create = messenger_info(messages);
    if (validation_wanted()) {
        if (!layer_present(layer)) throw Error("validation was asked for, but the layer ", layer, " is not installed");
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &layer;
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        features.pNext = &messenger_create;
        info.pNext = &features;
    }
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    check(vkCreateInstance(&info, nullptr, &handle), "vkCreateInstance");
    volkLoadInstance(handle);
    if (validation_wanted())
        check(vkCreateDebugUtilsMessengerEXT(handle, &messenger_create, nullptr, &messenger),
              "vkCreateDebugUtilsMessengerEXT");
}

Instance::~Instance() {
    if (messenger) vkDestroyDebugUtilsMessengerEXT(handle, messenger, nullptr);
    if (handle) vkDestroyInstance(handle, nullptr);
}

}  // namespace vkf
