// The command line as data, read from the definitions that parse it; source of the man page and the completions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vkf::cli {
class Command;
}

namespace vkf {

/// Type of the value that an option or argument takes, which determines its completions.
struct ValueType {
    enum class Kind { flag, words, file, directory, other } kind = Kind::other;
    std::vector<std::string> words = {};
    std::string name = {};  // name in --help: "N", "fp32|mixed", "FILE.toml"

    /// Kind and words derived from the name: words are small letters, separated by "|".
    static ValueType of(std::string name);
};

struct CommandOption {
    std::vector<std::string> names;  // "--bias", "--no-bias"; empty for a positional argument
    std::string help;
    std::string standard;  // default value, or ""
    std::string group;
    ValueType value;
    bool required = false;
    bool repeats = false;  // takes several values
};

/// A command with its subcommands; the program has no path.
struct CommandPage {
    std::string path;  // "train gpt"
    std::string name;  // "gpt"
    std::string about;
    std::string footer;  // examples and notes, as --help ends with them
    std::vector<CommandOption> options, arguments;
    std::vector<CommandPage> commands;

    /// This command and all commands below it, in the order of --help.
    std::vector<const CommandPage*> all() const;
};

/// Group of the options that every command has.
inline constexpr std::string_view everywhere = "Everywhere";

/// Everything that --help shows about the program.
CommandPage command_tree(const cli::Command& command);

}  // namespace vkf
