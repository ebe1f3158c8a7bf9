#include "device_fixture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/os/os.h"

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

void pretend(DeviceInfo& info) {
    const char* wanted = std::getenv("VKFORMER_TEST_AS_GPU");
    if (!wanted || std::strcmp(wanted, "small") != 0) return;
    info.kind = DeviceKind::integrated;
    info.max_group = 128;
    info.shared_bytes = 16384;
}

std::string wanted_device() {
    return os::environment("VKFORMER_DEVICE").value_or("");
}

Device& shared_device() {
    if (!slot()) slot() = std::make_unique<Device>(wanted_device(), pretend);
    return *slot();
}

bool on_lavapipe() {
    return shared_device().info().driver.starts_with("llvmpipe");
}

}  // namespace vkf::test
