// Pages made from the command line's definition: completions for shells, and the man page.
#pragma once

#include <string>
#include <string_view>

#include "apps/cli/command_tree.h"

namespace vkf {

/// Scripts that complete commands, options, words of choices, files and directories.
std::string bash_completion(const CommandPage& program);
std::string zsh_completion(const CommandPage& program);
std::string fish_completion(const CommandPage& program);

/// vkformer(1) in roff's man macros; all commands in one page.
std::string man_page(const CommandPage& program, std::string_view version);

/// Quotes a text in single quotes, as one word of bash and zsh.
std::string shell_quoted(std::string_view text);

}  // namespace vkf
