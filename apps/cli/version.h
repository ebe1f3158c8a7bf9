// Program version.
#pragma once

namespace vkf {

/// "0.1.0" for a release, "0.1.0+12.g1a2b3c4" twelve commits after it: see cmake/version.cmake.
const char* version();

}  // namespace vkf
