// Man page: the --help of every command, one after the other.

#include <algorithm>
#include <sstream>

#include "apps/help/completions.h"
#include "base/error.h"

namespace vkf {

namespace {

/// Escapes text so that roff prints it unchanged.
std::string plain(std::string_view words) {
    std::string made;
    for (const char c : words) {
        if (made.empty() && (c == '.' || c == '\'')) made += "\\&";
        if (c == '\\')
            made += "\\e";
        else
            made += c == '-' ? std::string("\\-") : c == '`' ? std::string("\\(ga") : std::string(1, c);
    }
    return made;
}

std::string bold(std::string_view words) {
    return "\\fB" + plain(words) + "\\fR";
}

std::string italic(std::string_view words) {
    return "\\fI" + plain(words) + "\\fR";
}

/// An option's or argument's entry: its syntax, then its description.
std::string entry(const CommandOption& option) {
    std::string head;
    for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
    if (option.value.kind != ValueType::Kind::flag)
        head += (head.empty() ? "" : " ") + italic(option.value.name) + (option.repeats ? " ..." : "");
    const std::string standard = option.standard.empty() ? "" : " Default: " + option.standard + ".";
    const std::string end = option.help.empty() || option.help.ends_with('.') ? "" : ".";
    return text(".TP\n", head, '\n', plain(option.help + end + (option.required ? " Required." : "") + standard), '\n');
}

/// Last part of --help: headings and commands, line by line as they are.
std::string footer(const std::string& words) {
    std::string made = ".PP\n.nf\n", line;
    std::istringstream stream(words);
    while (std::getline(stream, line)) made += plain(line) + "\n";
    return words.empty() ? "" : made + ".fi\n";
}

/// Synopsis of a command.
std::string synopsis(const CommandPage& command) {
    std::string line = bold(command.path.empty() ? "vkformer" : "vkformer " + command.path);
    if (!command.options.empty()) line += " [" + italic("OPTION") + "]...";
    if (!command.commands.empty()) return line + " " + italic("SUBCOMMAND") + " ...";
    for (const CommandOption& argument : command.arguments)
        line += " " + italic(argument.value.name) + (argument.repeats ? "..." : "");
    return line;
}

/// Arguments, then options by their groups, without options that every command has.
std::string options(const CommandPage& command) {
    std::string made;
    for (const CommandOption& argument : command.arguments) made += entry(argument);
    std::vector<std::string> groups;
    for (const CommandOption& option : command.options)
        if (option.group != everywhere && std::ranges::find(groups, option.group) == groups.end())
            groups.push_back(option.group);
    for (const std::string& group : groups) {
        if (groups.size() > 1) made += text(".PP\n", italic(group), '\n');
        for (const CommandOption& option : command.options)
            if (option.group == group && option.names.front() != "-h") made += entry(option);
    }
    return made;
}

}  // namespace

std::string man_page(const CommandPage& program, std::string_view version) {
    std::string commands, shared;
    for (const CommandPage* command : program.all()) {
        if (command == &program) continue;
        const std::string about = command->about + (command->about.ends_with('.') ? "" : ".");
        commands += text(".SS ", plain(command->path), "\n", synopsis(*command), "\n.PP\n", plain(about), '\n',
                         options(*command), footer(command->footer));
    }
    for (const CommandOption& option : program.options) shared += entry(option);
    return text(
        ".\\\" Made by `vkformer manpage`.\n.TH VKFORMER 1 \"\" \"vkformer ", version, "\" \"User Commands\"\n",
        ".SH NAME\nvkformer \\- train and run transformers on any Vulkan device\n.SH SYNOPSIS\n", synopsis(program),
        "\n.SH DESCRIPTION\n", plain(program.about),
        "\nThe subcommands are described one by one below.\n.SH OPTIONS\nThese are common to the subcommands.\n",
        shared, ".SH SUBCOMMANDS\n", commands, R"(.SH EXIT STATUS
0 done; 1 failed while running; 2 bad usage or bad input; 130 interrupted.
A failure is one line on standard error.
.SH ENVIRONMENT
.TP
\fBVKFORMER_DEVICE\fR
The device to work on, unless \fB\-\-device\fR says otherwise.
.TP
\fBVKFORMER_DATA\fR
The directory where data is looked for first.
.TP
\fBVKFORMER_CACHE\fR
The directory where the autotuner keeps its choices; otherwise \fI~/.cache/vkformer\fR.
.TP
\fBVKFORMER_QUEUE_FAMILY\fR
The number of the queue family to work on; otherwise one that computes and does not draw, where there is one.
.TP
\fBVKFORMER_VALIDATION\fR
If it is set to anything but 0, Vulkan's validation layers are wanted, and their messages are errors.
)",
        ".SH EXAMPLES\n", footer(program.footer));
}

}  // namespace vkf
