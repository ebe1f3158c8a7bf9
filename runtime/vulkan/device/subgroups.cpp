#include "vulkan/device/subgroups.h"

namespace vkf {

Subgroups choose_subgroups(const SubgroupLimits& limits) {
    constexpr std::uint32_t intel = 0x8086;
    Subgroups made;
    made.required = limits.full && limits.requirable;
    made.known = made.required || (limits.full && limits.least == limits.most);
    made.size = made.required && limits.vendor == intel ? limits.least : limits.reported;
    if (limits.vendor == intel) made.registers = 128 * limits.least / made.size;
    return made;
}

}  // namespace vkf
