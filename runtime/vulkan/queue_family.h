// Which of a device's queue families works for us.
#pragma once

#include <volk.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace vkf {

/// The family of that number, if one is wanted; otherwise the first that computes and does not draw, so that nothing of
/// what draws is switched in between, else the first that computes. Of those that do not draw only one with timestamps
/// is taken, if another has them. Nothing if there is no such family, or the wanted one does not compute.
std::optional<std::uint32_t> choose_queue_family(std::span<const VkQueueFamilyProperties> families,
                                                 const std::optional<std::string>& wanted);

/// $VKFORMER_QUEUE_FAMILY, to compare a device's families.
std::optional<std::string> wanted_queue_family();

}  // namespace vkf
