// Commands and their options, which a command line gives. Only command.cpp includes CLI11, which parses: its header
// takes longer to compile than most commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace vkf::cli {

/// Check of an option's value.
struct Check {
    std::string name = {};  // name for Option::has_check, or ""
    /// Returns the fault of a word, or "".
    std::function<std::string(const std::string& word)> complaint;
};

/// Handle of a command's option or positional argument; valid as long as the command. An option without a value is a
/// flag. Functions that change the option return the handle, so that calls can be chained.
class Option {
public:
    Option() = default;
    explicit Option(CLI::Option* option) : option_(option) {}

    /// True if the handle has an option.
    explicit operator bool() const { return option_ != nullptr; }

    // --- Declaration -----------------------------------------------------------------------------

    /// Sets the name of the value in --help: "N", "fp32|mixed", "FILE.toml".
    Option type_name(const std::string& name);
    /// Sets the default value in --help; capture_default_str() sets it to the variable's value.
    Option default_str(const std::string& words);
    Option capture_default_str();
    /// Sets the heading in --help under which the option is listed.
    Option group(const std::string& heading);
    Option required();
    /// Adds a check, after those that there are.
    Option check(const Check& check);
    /// Replaces a word before it is checked.
    Option transform(std::function<std::string(std::string word)> replacement);
    /// Demands or refuses another option next to this one. The command must have declared the other option before.
    Option needs(const std::string& name);
    Option excludes(const std::string& name);

    /// Takes the last of several values; take_all() takes all of them.
    Option take_last();
    Option take_all();
    /// Takes one word for each time that the option is named.
    Option one_word_each();
    /// Takes at least one value, and any number of them.
    Option any_number();
    /// The same, and words in brackets stay as they are: [MASK]. Other options of several words take [A,B] for two.
    Option any_words();
    /// Cuts a word into values at the delimiter.
    Option delimiter(char delimiter);

    // --- Description -----------------------------------------------------------------------------

    std::string name() const;                      // "--bias", or of a positional argument "path"
    std::vector<std::string> short_names() const;  // "h"
    std::vector<std::string> long_names() const;   // "bias", "no-bias"
    std::string description() const;
    std::string type_name() const;
    std::string default_str() const;
    std::string group() const;
    bool is_required() const;
    bool is_positional() const;
    bool is_flag() const;
    bool takes_several() const;
    bool has_check(const std::string& name) const;
    /// Fault that the first failing check finds in a word, or "".
    std::string complaint(std::string word) const;

    // --- Value -----------------------------------------------------------------------------------

    /// Number of words that the option was given.
    std::size_t count() const;
    /// Takes words as if the command line had them. Returns their fault, without the option's name, or "".
    std::string take(const std::vector<std::string>& words);

private:
    CLI::Option* option_ = nullptr;
};

/// A command with its options and subcommands.
class Command {
public:
    Command(const Command&) = delete;  // subcommands refer to their parent
    Command& operator=(const Command&) = delete;
    ~Command();

    // --- Declaration -----------------------------------------------------------------------------

    Command& add_subcommand(const std::string& name, const std::string& description);
    /// Demands exactly one subcommand.
    void require_subcommand();
    /// Adds an option that stores its value in the variable. Names are separated by commas; a name without dashes is
    /// that of a positional argument.
    Option add_option(const std::string& names, std::string& value, const std::string& description);
    Option add_option(const std::string& names, std::int64_t& value, const std::string& description);
    Option add_option(const std::string& names, std::uint64_t& value, const std::string& description);
    Option add_option(const std::string& names, double& value, const std::string& description);
    Option add_option(const std::string& names, float& value, const std::string& description);
    Option add_option(const std::string& names, std::optional<std::int64_t>& value, const std::string& description);
    Option add_option(const std::string& names, std::vector<std::string>& value, const std::string& description);
    Option add_option(const std::string& names, std::vector<std::int32_t>& value, const std::string& description);
    /// Adds an option that hands its words to a function.
    Option add_option_function(const std::string& names, std::function<void(const std::vector<std::string>&)> take,
                               const std::string& description);
    /// Adds a flag. A name that begins with "!" makes the value false.
    Option add_flag(const std::string& names, bool& value, const std::string& description);
    /// Adds a flag that hands its value to a function.
    Option add_flag_function(const std::string& names, std::function<void(bool)> take, const std::string& description);
    /// Sets the end of --help. Without it, the end is the one that the parent had when the command was added.
    void footer(const std::string& text);
    /// Sets the function that does the command's work, after the whole command line has been read.
    void callback(std::function<void()> work);

    // --- Description -----------------------------------------------------------------------------

    std::string name() const;
    std::string description() const;
    std::string footer() const;
    std::string group() const;  // heading in the parent's --help; "": not listed
    const Command* parent() const { return parent_; }
    std::vector<Command*> subcommands() const;
    std::vector<Option> options() const;
    /// Option by one of its names, such as "--bias". If there is none, option() throws and find_option() returns an
    /// empty handle.
    Option option(const std::string& name) const;
    Option find_option(const std::string& name) const;

    // --- Command line ----------------------------------------------------------------------------

    /// Number of words that the option was given.
    std::size_t count(const std::string& name) const { return option(name).count(); }
    /// First subcommand that the command line has; null if it has none.
    const Command* chosen_subcommand() const;

protected:
    Command(std::shared_ptr<CLI::App> app, const Command* parent);

    std::shared_ptr<CLI::App> app_;

private:
    const Command* parent_;
    std::vector<std::unique_ptr<Command>> subcommands_;
};

/// Result of reading a command line.
struct ParseResult {
    enum class Kind : std::uint8_t { done, help, version, error } kind = Kind::done;
    std::string message = {};  // text of --version, or the error
};

/// The program.
class RootCommand : public Command {
public:
    RootCommand(const std::string& name, const std::string& description);

    /// Adds --version, which asks for the text.
    void version(const std::string& text);
    /// Sets a function that is called before the work of the commands.
    void parse_complete_callback(std::function<void()> check);
    /// Reads the command line and does the work of its commands, whose exceptions it lets pass.
    ParseResult parse(int argc, const char* const* argv);
    /// Text of --help for the command that the command line chose.
    std::string help() const;
    /// Words of the command line that no command understood.
    std::vector<std::string> unknown_words() const;
};

}  // namespace vkf::cli
