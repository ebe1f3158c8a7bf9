// The one device that all tests of a process share.
#pragma once

#include "vulkan/device.h"

namespace vkf::test {

/// With VKFORMER_TEST_AS_GPU=small, makes a device seem to be a GPU that has the least of shared memory and of
/// invocations in a workgroup that Vulkan allows.
void pretend(DeviceInfo& info);

/// Opened at first use, as `pretend` has it; closed after the last test, when validation messages are counted as
/// failures.
Device& shared_device();

}  // namespace vkf::test
