// How much memory the workgroups of a kernel share.
#pragma once

#include <cstdint>
#include <map>
#include <span>

namespace vkf {

/// Bytes that a workgroup of a SPIR-V compute module shares where the specialisation constants have these values, by
/// id, and the others their own. Throws Error if it shares anything but numbers and arrays of them, or if an array's
/// length is computed in a way that is not known here.
std::uint64_t shared_bytes(std::span<const std::uint32_t> words,
                           const std::map<std::uint32_t, std::uint32_t>& constants);

}  // namespace vkf
