// SHA-256 (FIPS 180-4), for forms that identify outputs by it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vkf {

/// The hash as 64 hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);

}  // namespace vkf
