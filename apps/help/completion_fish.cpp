// Completion script for fish: one line per command and option, each on the condition that its command precedes it.

#include "apps/help/completions.h"
#include "base/error.h"

namespace vkf {

namespace {

/// Quotes a text in single quotes, as one word of fish, where a backslash escapes, too.
std::string fish_quoted(std::string_view text) {
    std::string made = "'";
    for (const char c : text) made += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
    return made + "'";
}

/// Completions of a value; "" for flags, which have no value.
std::string value_words(const ValueType& value) {
    std::string words;
    switch (value.kind) {
        case ValueType::Kind::flag:
            return "";
        case ValueType::Kind::file:
            return " -r -F";
        case ValueType::Kind::directory:
            return " -x -a '(__fish_complete_directories)'";
        case ValueType::Kind::other:
            return " -x";
        case ValueType::Kind::words:
            for (const std::string& word : value.words) words += (words.empty() ? "" : " ") + word;
            return " -x -a " + fish_quoted(words);
    }
    return "";
}

std::string lines(const CommandPage& command) {
    const std::string start =
        text("complete -c vkformer -n ", fish_quoted("__vkformer_at " + shell_quoted(command.path)));
    std::string made;
    for (const CommandPage& one : command.commands)
        made += text(start, " -a ", one.name, " -d ", fish_quoted(one.about), '\n');
    for (const CommandOption& option : command.options)
        for (const std::string& name : option.names)
            made += text(start, name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1),
                         value_words(option.value), " -d ", fish_quoted(option.help), '\n');
    for (const CommandOption& argument : command.arguments) {
        if (argument.value.kind == ValueType::Kind::other) continue;
        const std::string words = value_words(argument.value);
        made +=
            text(start, words.starts_with(" -r") ? " -F" : words.substr(3), " -d ", fish_quoted(argument.help), '\n');
    }
    return made;
}

}  // namespace

std::string fish_completion(const CommandPage& program) {
    std::string commands, all;
    for (const CommandPage* command : program.all()) {
        if (!command->path.empty()) commands += " " + fish_quoted(command->path);
        all += lines(*command);
    }
    return text(R"(# fish completion for vkformer, made by `vkformer completion fish`.

# Whether the words before the cursor name this command.
function __vkformer_at
    set -l path
    for word in (commandline -opc)[2..-1]
        switch (string join -- ' ' $path $word)
            case)",
                commands, R"(
                set path $path $word
        end
    end
    test "$path" = "$argv[1]"
end

complete -c vkformer -f
)",
                all);
}

}  // namespace vkf
