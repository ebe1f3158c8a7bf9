// Error messages about a command line, in the program's own words.
#pragma once

#include <string>

namespace vkf::cli {
class Command;
class RootCommand;
}  // namespace vkf::cli

namespace vkf {

/// Makes every flag of every command accept only true or false as a value.
void check_flags(cli::Command& command);

/// Path of a command as it is called: "train gpt".
std::string path_of(const cli::Command& command);

/// "; `train vit` has one" if another command of the same group has the option "--name", else "".
std::string who_has(const cli::Command& command, const std::string& name);

/// True if some word of the command line was not understood.
bool has_unknown(const cli::RootCommand& program);

/// Error message with a pointer to the subcommand's help. Words that were not understood are reported first: a misspelt
/// option is the likely reason why one is missing.
std::string usage_message(const cli::RootCommand& program, const std::string& complaint);

}  // namespace vkf
