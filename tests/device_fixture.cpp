#include "device_fixture.h"

#include <gtest/gtest.h>

#include <memory>

namespace vkf::test {

namespace {

std::unique_ptr<Device>& slot() {
    static std::unique_ptr<Device> device;
    return device;
}

class CloseDevice : public ::testing::Environment {
public:
    void TearDown() override {
        if (slot()) {
            EXPECT_EQ(slot()->validation_messages(), 0u);
        }
        slot().reset();
    }
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new CloseDevice);

}  // namespace

Device& shared_device() {
    if (!slot()) slot() = std::make_unique<Device>();
    return *slot();
}

}  // namespace vkf::test
