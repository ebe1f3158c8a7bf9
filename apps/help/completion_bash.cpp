// Completion script for bash: a table from command and option to their completions, and one function that looks them
// up.

#include <map>

#include "apps/help/completions.h"
#include "base/error.h"

namespace vkf {

namespace {

/// Completions of an option's value as the script writes them: words, or one of three signs.
std::string choices(const ValueType& value) {
    std::string words;
    switch (value.kind) {
        case ValueType::Kind::file:
            return "<file>";
        case ValueType::Kind::directory:
            return "<directory>";
        case ValueType::Kind::other:
            return "<value>";
        case ValueType::Kind::words:
            for (const std::string& word : value.words) words += (words.empty() ? "" : " ") + word;
            return words;
        case ValueType::Kind::flag:
            break;
    }
    return "";
}

/// Keys of the table, such as "train gpt --data", "eval ARGUMENT" and "train OPTIONS", by their completions.
std::map<std::string, std::vector<std::string>> words_by_command(const CommandPage& program) {
    std::map<std::string, std::vector<std::string>> keys;
    for (const CommandPage* command : program.all()) {
        const std::string start = command->path.empty() ? "" : command->path + " ";
        std::string options, below;
        for (const CommandOption& option : command->options)
            for (const std::string& name : option.names) {
                if (name.starts_with("--")) options += (options.empty() ? "" : " ") + name;
                if (const std::string list = choices(option.value); !list.empty()) keys[list].push_back(start + name);
            }
        for (const CommandPage& one : command->commands) below += (below.empty() ? "" : " ") + one.name;
        if (below.empty() && !command->arguments.empty()) below = choices(command->arguments.front().value);
        keys[options].push_back(start + "OPTIONS");
        if (!below.empty()) keys[below].push_back(start + "ARGUMENT");
    }
    return keys;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
    std::string made = "'";
    for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return made + "'";
}

std::string bash_completion(const CommandPage& program) {
    std::string commands, cases;
    for (const CommandPage* command : program.all())
        if (!command->path.empty()) commands += (commands.empty() ? "" : " | ") + shell_quoted(command->path);
    for (const auto& [list, keys] : words_by_command(program)) {
        std::string patterns;
        for (const std::string& key : keys) patterns += (patterns.empty() ? "" : " | ") + shell_quoted(key);
        cases += text("        ", patterns, ") choices=", shell_quoted(list), " ;;\n");
    }
    return text(R"(# bash completion for vkformer, made by `vkformer completion bash`.

# Sets `choices` to what may stand after option $2 of command $1, or as its ARGUMENT or OPTIONS: words, <file>,
# <directory>, or <value> for what nobody can guess. Nothing stands after a flag.
_vkformer_choices() {
    case "${1:+$1 }$2" in
)",
                cases, R"(        *) choices= ;;
    esac
}

_vkformer() {
    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} prefix= command= choices i
    # --option=value: bash breaks words at "=", unless it has been told not to.
    if [[ $current == = ]]; then
        current=
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $current == --*=* ]]; then
        option=${current%%=*} prefix=${current%%=*}= current=${current#*=}
    fi

    for ((i = 1; i < COMP_CWORD; ++i)); do
        _vkformer_choices "$command" "${COMP_WORDS[i - 1]}"
        if [[ -n $choices ]]; then continue; fi  # this word is that option's value
        case "${command:+$command }${COMP_WORDS[i]}" in
            )",
                commands, R"() command+=${command:+ }${COMP_WORDS[i]} ;;
        esac
    done

    _vkformer_choices "$command" "$option"
    if [[ -z $choices && $current == -* ]]; then
        _vkformer_choices "$command" OPTIONS
    elif [[ -z $choices ]]; then
        _vkformer_choices "$command" ARGUMENT
    fi
    COMPREPLY=()
    case $choices in
        '<file>') compopt -o default ;;
        '<directory>') compopt -o dirnames ;;
        '<value>') ;;
        *) mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$choices" -- "$current") ;;
    esac
}

complete -F _vkformer vkformer
)");
}

}  // namespace vkf
