// Size of a kernel's shared memory.
#pragma once

#include <cstdint>
#include <map>
#include <span>

namespace vkf {

/// Bytes of shared memory of a workgroup of a SPIR-V compute module, given values of specialisation constants by id;
/// other constants have their defaults. Throws Error if the module shares anything but numbers and arrays of them, or
/// if an array's length is computed by an operation that is not implemented here.
std::uint64_t shared_bytes(std::span<const std::uint32_t> words,
                           const std::map<std::uint32_t, std::uint32_t>& constants);

}  // namespace vkf
