// Standard output without changes, for results that the user asked for.
#pragma once

#include <string_view>

namespace vkf {

/// Writes text unchanged: a model's text, or a path for scripts. Everything else is printed as plain text
/// (apps/cli/common.h). Throws ClosedOutput, or Error with the system's reason.
void print_as_is(std::string_view text);

}  // namespace vkf
