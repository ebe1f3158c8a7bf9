#include "apps/help/usage.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "apps/cli/option_values.h"
#include "base/error.h"

namespace vkf {

namespace {

/// Words known at this position: options, or subcommands.
std::vector<std::string> known_words(const CLI::App& command, bool options) {
    std::vector<std::string> known;
    if (!options)
        for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
            known.push_back(sub->get_name());
    else
        for (const CLI::Option* option : command.get_options())
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    return known;
}

std::string unknown_message(const CLI::App& command, const std::string& argument) {
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

void check_flags(CLI::App& app) {
    for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
        if (is_flag(*option)) option->check(one_of({"true", "false"}));
    for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) check_flags(*sub);
}

std::string path_of(const CLI::App& app) {
    const CLI::App* parent = app.get_parent();
    return parent && parent->get_parent() ? path_of(*parent) + " " + app.get_name() : app.get_name();
}

std::string who_has(const CLI::App& app, const std::string& name) {
    const CLI::App* group = app.get_parent();
    if (!group || !group->get_parent()) return "";  // commands of different kinds
    for (const CLI::App* other : group->get_subcommands([](const CLI::App*) { return true; }))
        if (other != &app && other->get_option_no_throw(name)) return "; `" + path_of(*other) + "` has one";
    return "";
}

bool has_unknown(const CLI::App& app) {
    return !app.remaining(true).empty();
}

std::string usage_message(const CLI::App& app, const std::string& complaint) {
    std::string path = "vkformer";
    const CLI::App* at = &app;
    for (; !at->get_subcommands().empty(); path += " " + at->get_name()) at = at->get_subcommands().front();
    const std::vector<std::string> unknown = app.remaining(true);
    return text(unknown.empty() ? in_our_words(complaint) : unknown_message(*at, unknown.front()), " (see ", path,
                " --help)");
}

}  // namespace vkf
