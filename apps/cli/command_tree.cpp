#include "apps/cli/command_tree.h"

#include <algorithm>

#include "apps/cli/command.h"
#include "apps/help/usage.h"

namespace vkf {

namespace {

std::vector<std::string> split(const std::string& list, char separator) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= list.size();) {
        const std::size_t end = std::min(list.find(separator, start), list.size());
        parts.push_back(list.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

bool is_word(const std::string& part) {
    return !part.empty() && part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos;
}

/// Footer of the command itself, or ""; a command without a footer inherits its parent's.
std::string own_footer(const cli::Command& command) {
    const cli::Command* parent = command.parent();
    return parent && parent->footer() == command.footer() ? "" : command.footer();
}

CommandOption described(const cli::Option& option) {
    CommandOption made{.help = option.description(),
                       .standard = option.default_str(),
                       .group = option.group(),
                       .value = option.is_flag() ? ValueType{ValueType::Kind::flag} : ValueType::of(option.type_name()),
                       .required = option.is_required(),
                       .repeats = option.takes_several()};
    for (const std::string& name : option.short_names()) made.names.push_back("-" + name);
    for (const std::string& name : option.long_names()) made.names.push_back("--" + name);
    return made;
}

}  // namespace

ValueType ValueType::of(std::string name) {
    const std::vector<std::string> parts = split(name, '|');
    if (parts.size() > 1 && std::ranges::all_of(parts, is_word)) return {Kind::words, parts, std::move(name)};
    const auto names = [&](const char* what) { return name.find(what) != std::string::npos; };
    const bool extension = name.size() > 2 && is_word(name.substr(name.rfind('.') + 1)) && names(".");
    if (names("DIR")) return {Kind::directory, {}, std::move(name)};
    if (names("FILE") || names("PATH") || names("IMAGE") || extension) return {Kind::file, {}, std::move(name)};
    return {Kind::other, {}, std::move(name)};
}

std::vector<const CommandPage*> CommandPage::all() const {
    std::vector<const CommandPage*> list{this};
    for (const CommandPage& command : commands)
        for (const CommandPage* below : command.all()) list.push_back(below);
    return list;
}

CommandPage command_tree(const cli::Command& command) {
    CommandPage made{.path = command.parent() ? path_of(command) : "",
                     .name = command.name(),
                     .about = command.description(),
                     .footer = own_footer(command)};
    for (const cli::Option& option : command.options()) {
        const CommandOption one = described(option);
        if (one.group.empty()) continue;  // hidden
        if (!one.names.empty()) made.options.push_back(one);
        if (!option.is_positional()) continue;
        made.arguments.push_back(one);
        made.arguments.back().names.clear();
    }
    for (const cli::Command* below : command.subcommands())
        if (!below->group().empty()) made.commands.push_back(command_tree(*below));
    return made;
}

}  // namespace vkf
