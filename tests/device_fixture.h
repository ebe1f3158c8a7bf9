// The one device that all tests of a process share.
#pragma once

#include "vulkan/device.h"

namespace vkf::test {

/// Opened at first use, closed after the last test, when validation messages are counted as failures.
Device& shared_device();

}  // namespace vkf::test
