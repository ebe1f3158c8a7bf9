// Pipelines that are created together.
#include "vulkan/kernel/kernel.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "device_fixture.h"
#include "vulkan/handles.h"

namespace vkf::test {
namespace {

const KernelRequest sums{"row_sum", {}}, copies{"copy", {}}, blocks{"copy", {{"GROUP", 32}}};

TEST(DeviceKernels, AreMadeOnceEach) {
    Device device(wanted_device());
    const auto& made = device.handles().kernels;
    make_kernels(device, std::vector{sums, copies, sums, blocks});
    ASSERT_EQ(made.size(), 3u);
    const Kernel& one = kernel(device, copies);
    EXPECT_EQ(one.name, "copy");
    EXPECT_NE(one.handle, kernel(device, blocks).handle);
    make_kernels(device, std::vector{copies, sums});
    EXPECT_EQ(&kernel(device, copies), &one);
    EXPECT_EQ(made.size(), 3u);
}

TEST(DeviceKernels, FailAsTheFirstThatCannotBeMade) {
    Device device(wanted_device());
    const std::vector<KernelRequest> requests{sums, {"copy", {{"BREADTH", 1}}}, {"no_such", {}}, copies};
    try {
        make_kernels(device, requests);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("kernel copy has no constant 'BREADTH'"), std::string::npos)
            << error.what();
    }
    EXPECT_EQ(device.handles().kernels.size(), 2u) << "the others are made, and are the device's";
    EXPECT_THROW(kernel(device, {"no_such", {}}), Error);
}

}  // namespace
}  // namespace vkf::test
