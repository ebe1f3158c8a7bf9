// Choice of a device's queue family.
#pragma once

#include <volk.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace vkf {

/// Index of the wanted family, if one is given. Otherwise the first family that computes and does not draw, so that the
/// device does not switch between drawing and computing; else the first that computes. A family that does not draw is
/// taken only if it has timestamps or the first that computes has none. Empty if there is no such family, or if the
/// wanted one does not compute.
std::optional<std::uint32_t> choose_queue_family(std::span<const VkQueueFamilyProperties> families,
                                                 const std::optional<std::string>& wanted);

/// Value of $VKFORMER_QUEUE_FAMILY, which serves to compare a device's families.
std::optional<std::string> wanted_queue_family();

}  // namespace vkf
