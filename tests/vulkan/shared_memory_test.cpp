#include "vulkan/shared_memory.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "vulkan/kernel/kernel.h"
#include "vulkan/kernel/reflect.h"
#include "vulkan/kernel/spirv.h"

namespace vkf {
namespace {

using Constants = std::map<std::string, std::uint32_t>;

/// Bytes of shared memory of an embedded kernel, with its constants by name.
std::uint64_t of(std::string_view kernel, const Constants& constants) {
    for (const SpirvModule& module : embedded_spirv()) {
        if (module.name != kernel) continue;
        std::map<std::uint32_t, std::uint32_t> by_id;
        for (const SpecConstant& constant : reflect(module.words).constants)
            if (const auto value = constants.find(constant.name); value != constants.end())
                by_id[constant.id] = value->second;
        EXPECT_EQ(by_id.size(), constants.size());
        return shared_bytes(module.words, by_id);
    }
    throw Error("there is no kernel ", kernel);
}

TEST(HostSharedMemory, IsWhatConstantsMakeOfIt) {
    // Two slices of 16 or 8 columns of each operand; their lines are four numbers longer than a tile.
    const auto product = [](std::uint32_t tile, std::uint32_t thread, std::uint32_t slice) {
        return of("matmul_tile",
                  {{"GROUP", (tile / thread) * (tile / thread)}, {"TILE", tile}, {"THREAD", thread}, {"SLICE", slice}});
    };
    EXPECT_EQ(product(64, 4, 16), 2 * 16 * (64 + 4 + 64 + 4) * 4u);
    EXPECT_EQ(product(128, 8, 8), 2 * 8 * (128 + 4 + 128 + 4) * 4u);
}

TEST(HostSharedMemory, IsNoneOfKernelsThatShareNothing) {
    EXPECT_EQ(of("copy", {{"GROUP", 256}}), 0u);
}

TEST(HostSharedMemory, IsKnownOfEveryKernel) {
    for (const SpirvModule& module : embedded_spirv()) EXPECT_LE(shared_bytes(module.words, {}), 65536u) << module.name;
}

}  // namespace
}  // namespace vkf
