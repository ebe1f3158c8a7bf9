#include "apps/help/usage.h"

#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/option_values.h"
#include "base/error.h"

namespace vkf {

namespace {

/// Words known at this position: options, or subcommands.
std::vector<std::string> known_words(const cli::Command& command, bool options) {
    std::vector<std::string> known;
    if (!options)
        for (const cli::Command* below : command.subcommands()) known.push_back(below->name());
    else
        for (const cli::Option& option : command.options())
            for (const std::string& name : option.long_names()) known.push_back("--" + name);
    return known;
}

std::string unknown_message(const cli::Command& command, const std::string& argument) {
    const std::string word = argument.substr(0, argument.find('='));
    const bool option = word.starts_with('-');
    const std::vector<std::string> known = known_words(command, option);
    const char* kind = option ? "option" : known.empty() ? "argument" : "subcommand";
    const std::string other = option ? who_has(command, word) : "";
    return text("unknown ", kind, " '", word, "'", other.empty() ? did_you_mean(word, known) : other);
}

/// Rewords CLI11's messages that are hard to read: "--x: 1 required TYPE missing", "Could not convert: --x = y".
std::string in_our_words(const std::string& complaint) {
    const std::string required = ": 1 required ", missing = " missing", convert = "Could not convert: ";
    const std::size_t at = complaint.find(required);
    if (at != std::string::npos && complaint.ends_with(missing)) {
        const std::string type = complaint.substr(at + required.size());
        return text(complaint.substr(0, at), " wants a value: ", type.substr(0, type.size() - missing.size()));
    }
    const std::size_t equals = complaint.find(" = ");
    if (complaint.starts_with(convert) && equals != std::string::npos)
        return text(complaint.substr(convert.size(), equals - convert.size()), ": found '",
                    complaint.substr(equals + 3), "', which it cannot be");
    return complaint;
}

}  // namespace

void check_flags(cli::Command& command) {
    for (cli::Option& option : command.options())
        if (option.is_flag()) option.check(one_of({"true", "false"}));
    for (cli::Command* below : command.subcommands()) check_flags(*below);
}

std::string path_of(const cli::Command& command) {
    const cli::Command* parent = command.parent();
    return parent && parent->parent() ? path_of(*parent) + " " + command.name() : command.name();
}

std::string who_has(const cli::Command& command, const std::string& name) {
    const cli::Command* group = command.parent();
    if (!group || !group->parent()) return "";  // commands of different kinds
    for (const cli::Command* other : group->subcommands())
        if (other != &command && other->find_option(name)) return "; `" + path_of(*other) + "` has one";
    return "";
}

bool has_unknown(const cli::RootCommand& program) {
    return !program.unknown_words().empty();
}

std::string usage_message(const cli::RootCommand& program, const std::string& complaint) {
    std::string path = "vkformer";
    const cli::Command* command = &program;
    while (const cli::Command* chosen = command->chosen_subcommand()) {
        command = chosen;
        path += " " + command->name();
    }
    const std::vector<std::string> unknown = program.unknown_words();
    return text(unknown.empty() ? in_our_words(complaint) : unknown_message(*command, unknown.front()), " (see ", path,
                " --help)");
}

}  // namespace vkf
