// Standard output to the byte, for what the user asked for.
#pragma once

#include <string_view>

namespace vkf {

/// Writes text that a model makes, or a path for scripts, as it is. Everything else is printed as plain text
/// (apps/common.h). Throws ClosedOutput, or Error with the system's reason.
void print_as_is(std::string_view text);

}  // namespace vkf
