// The command line as data, read off the definitions that parse it: what man page and completions are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace vkf {

/// What an option or argument takes for a value, and so what may complete it.
struct ValueType {
    enum class Kind { flag, words, file, directory, other } kind = Kind::other;
    std::vector<std::string> words = {};
    std::string name = {};  // as --help shows it: "N", "fp32|mixed", "FILE.toml"

    /// Kind and words as the name tells them: words are small letters with "|" between them.
    static ValueType of(std::string name);
};

struct CommandOption {
    std::vector<std::string> names;  // "--bias", "--no-bias"; none of an argument that stands by itself
    std::string help;
    std::string standard;  // what it is unless given, or ""
    std::string group;
    ValueType value;
    bool required = false;
    bool repeats = false;  // takes several values
};

/// A command with those below it; the program is the one without a path.
struct CommandPage {
    std::string path;  // "train gpt"
    std::string name;  // "gpt"
    std::string about;
    std::string footer;  // examples and notes, as --help ends with them
    std::vector<CommandOption> options, arguments;
    std::vector<CommandPage> commands;

    /// This one and all below it, in the order of --help.
    std::vector<const CommandPage*> all() const;
};

/// The group of the options that every command has.
inline constexpr std::string_view everywhere = "Everywhere";

/// Everything that --help shows of the program.
CommandPage command_tree(const CLI::App& app);

}  // namespace vkf
