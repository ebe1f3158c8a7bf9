// The one device that all tests of a process share.
#pragma once

#include <string>

#include "vulkan/device.h"

namespace vkf::test {

/// With VKFORMER_TEST_AS_GPU=small, makes a device seem to be a GPU that has the least of shared memory and of
/// invocations in a workgroup that Vulkan allows.
void pretend(DeviceInfo& info);

/// The device that tests run on, as the program takes it: $VKFORMER_DEVICE; empty: the best there is.
std::string wanted_device();

/// That device, opened at first use, as `pretend` has it; closed after the last test, when validation messages are
/// counted as failures.
Device& shared_device();

/// Tests of what only Mesa's CPU device has skip themselves on any other.
bool on_lavapipe();

}  // namespace vkf::test
