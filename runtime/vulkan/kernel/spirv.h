// Compiled kernels that are embedded in the program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vkf {

/// SPIR-V of a kernel. `name` is NAME of the file NAME.comp in shaders/.
struct SpirvModule {
    std::string_view name;
    std::span<const std::uint32_t> words;
};

/// All kernels that the build compiled, in order of name; valid for the life of the program. The build generates the
/// list from shaders/ and leaves out kernels whose extensions its glslc does not know.
std::span<const SpirvModule> embedded_spirv();

}  // namespace vkf
