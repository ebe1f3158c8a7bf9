// One device, shared by all tests of a process.
#pragma once

#include <string>

#include "vulkan/device/device.h"

namespace vkf::test {

/// With VKFORMER_TEST_AS_GPU=small, makes a device seem to be a GPU with the least shared memory and the fewest
/// invocations per workgroup that Vulkan allows.
void pretend(DeviceInfo& info);

/// Name of the device that tests run on, in the program's notation: $VKFORMER_DEVICE; empty: the best device.
std::string wanted_device();

/// Device wanted_device(), changed by pretend(). It is opened at first use and closed after the last test; validation
/// messages then count as failures.
Device& shared_device();

/// True on Mesa's CPU device. Tests of features that only this device has skip themselves on all others.
bool on_lavapipe();

}  // namespace vkf::test
