// Complaints about a command line, in the program's own words.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace vkf {

/// Makes every flag of every command take no other value than true or false.
void check_flags(CLI::App& app);

/// "train gpt": how a command is called.
std::string path_of(const CLI::App& app);

/// "; `train vit` has one" where a command of the same group has the option "--name" that this one lacks, or "".
std::string who_has(const CLI::App& app, const std::string& name);

/// Whether something on the command line was not understood.
bool has_unknown(const CLI::App& app);

/// What is wrong, with the way to the subcommand's help. What was not understood goes first: a misspelt option is the
/// likely reason why one is missing.
std::string usage_message(const CLI::App& app, const std::string& complaint);

}  // namespace vkf
