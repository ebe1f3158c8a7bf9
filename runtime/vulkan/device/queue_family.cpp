#include "vulkan/device/queue_family.h"

#include <charconv>

#include "base/os/os.h"

namespace vkf {

std::optional<std::uint32_t> choose_queue_family(std::span<const VkQueueFamilyProperties> families,
                                                 const std::optional<std::string>& wanted) {
    const auto computes = [&](std::uint32_t i) { return (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; };
    if (wanted) {
        std::uint32_t number = 0;
        const char* end = wanted->data() + wanted->size();
        const auto [read, problem] = std::from_chars(wanted->data(), end, number);
        const bool exists = problem == std::errc() && read == end && number < families.size();
        return exists && computes(number) ? std::optional(number) : std::nullopt;
    }
    std::optional<std::uint32_t> first;
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        if (!computes(i)) continue;
        if (!first) first = i;
        const bool draws = (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
        const bool timed = families[i].timestampValidBits > 0 || families[*first].timestampValidBits == 0;
        if (!draws && timed) return i;
    }
    return first;
}

std::optional<std::string> wanted_queue_family() {
    return os::environment("VKFORMER_QUEUE_FAMILY");
}

}  // namespace vkf
