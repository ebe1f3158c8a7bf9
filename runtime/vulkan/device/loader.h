#pragma once

namespace vkf {

/// Loads the Vulkan loader, which finds the drivers, and sets volk's functions. False if there is none. The system's
/// loader is preferred; on Linux a system without one, such as a container, may have drivers all the same, and then the
/// loader at ../lib/vkformer from the program is taken, which the archive for any Linux has (docs/install.md).
bool open_vulkan_loader();

}  // namespace vkf
