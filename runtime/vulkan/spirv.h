// The compiled kernels inside the program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vkf {

/// One kernel's SPIR-V; its name is that of shaders/NAME.comp.
struct SpirvModule {
    std::string_view name;
    std::span<const std::uint32_t> words;
};

/// Every kernel the build compiled, in order of name; valid for the life of the program. The build
/// generates it from shaders/*.comp and leaves out kernels whose extensions its glslc does not know.
std::span<const SpirvModule> embedded_spirv();

}  // namespace vkf
