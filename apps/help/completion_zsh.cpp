// Completion script for zsh: one function per command, which passes the command's options to _arguments.

#include <algorithm>

#include "apps/help/completions.h"
#include "base/error.h"

namespace vkf {

namespace {

/// The text with a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view characters) {
    std::string made;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) made += '\\';
        made += c;
    }
    return made;
}

std::string function_of(const CommandPage& command) {
    std::string name = command.path.empty() ? "_vkformer" : "_vkformer_" + command.path;
    std::ranges::replace(name, ' ', '_');
    return name;
}

/// ":N:ACTION", which follows an option or stands for an argument.
std::string value_spec(const ValueType& value) {
    std::string action = " ";
    if (value.kind == ValueType::Kind::flag) return "";
    if (value.kind == ValueType::Kind::file) action = "_files";
    if (value.kind == ValueType::Kind::directory) action = "_files -/";
    if (value.kind == ValueType::Kind::words) {
        action = "(";
        for (const std::string& word : value.words) action += (action.size() > 1 ? " " : "") + word;
        action += ")";
    }
    return text(':', escaped(value.name.empty() ? "value" : value.name, ":\\"), ':', action);
}

std::string specs(const CommandPage& command) {
    std::vector<std::string> list;
    for (const CommandOption& option : command.options)
        for (const std::string& name : option.names) {
            const bool wants_value = option.value.kind != ValueType::Kind::flag;
            list.push_back(text(option.repeats ? "*" : "", name, wants_value ? "=" : "", '[',
                                escaped(option.help, "[]\\"), ']', value_spec(option.value)));
        }
    if (!command.commands.empty()) {
        list.insert(list.end(), {"1:command:->command", "*::argument:->argument"});
    } else {
        for (std::size_t i = 0; i < command.arguments.size(); ++i) {
            const CommandOption& argument = command.arguments[i];
            list.push_back((argument.repeats ? "*" : text(i + 1)) + value_spec(argument.value));
        }
    }
    std::string lines;
    for (const std::string& spec : list) lines += " \\\n        " + shell_quoted(spec);
    return lines;
}

std::string function(const CommandPage& command) {
    if (command.commands.empty()) return text(function_of(command), "() {\n    _arguments", specs(command), "\n}\n\n");
    std::string described, calls;
    for (const CommandPage& one : command.commands) {
        described += text("                ", shell_quoted(escaped(one.name, ":") + ":" + one.about), '\n');
        calls += text("                ", one.name, ") ", function_of(one), " ;;\n");
    }
    return text(function_of(command), R"(() {
    local context state state_descr line
    local -a commands
    typeset -A opt_args
    _arguments -C)",
                specs(command), R"(
    case $state in
        command)
            commands=(
)",
                described, R"(            )
            _describe command commands
            ;;
        argument)
            case $words[1] in
)",
                calls, R"(            esac
            ;;
    esac
}

)");
}

}  // namespace

std::string zsh_completion(const CommandPage& program) {
    std::string functions;
    for (const CommandPage* command : program.all()) functions += function(*command);
    return text("#compdef vkformer\n# zsh completion for vkformer, made by `vkformer completion zsh`.\n\n", functions,
                "if [ \"$funcstack[1]\" = _vkformer ]; then\n    _vkformer \"$@\"\nelse\n    compdef _vkformer "
                "vkformer\nfi\n");
}

}  // namespace vkf
