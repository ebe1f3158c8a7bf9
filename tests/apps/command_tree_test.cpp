// Tests the command line as data: completions offer the words that options take, and the man page is complete.

#include "apps/cli/command_tree.h"

#include <gtest/gtest.h>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/help/completions.h"
#include "apps/help/usage.h"
#include "scratch.h"

namespace vkf::test {
namespace {

/// The program's commands, as main() parses them.
struct CommandLine {
    cli::RootCommand app{"vkformer", "A program."};
    Common common;

    CommandLine() {
        add_common(app, common);
        add_commands(app, common);
    }
};

/// Checks that, for a command and all commands below it, exactly the options that take one of some words list them.
void expect_words(const cli::Command& command) {
    for (const cli::Option& option : command.options()) {
        if (option.is_flag()) continue;
        const std::string name = path_of(command) + " " + option.name();
        const ValueType type = ValueType::of(option.type_name());
        for (const std::string& word : type.words) EXPECT_EQ(option.complaint(word), "") << name;
        const bool one_of_some = option.complaint("no-such-word").find("is unknown, wanted") != std::string::npos;
        EXPECT_EQ(type.kind == ValueType::Kind::words, one_of_some) << name << " takes " << type.name;
    }
    for (const cli::Command* below : command.subcommands()) expect_words(*below);
}

TEST(HostCommandTree, WordsOfAnOptionAreThoseThatItTakes) {
    CommandLine line;
    expect_words(line.app);
}

TEST(HostCommandTree, AValueIsWhatItsNameInHelpSays) {
    using enum ValueType::Kind;
    for (const auto& [name, kind] : std::vector<std::pair<std::string, ValueType::Kind>>{{"fp32|mixed", words},
                                                                                         {"INDEX|NAME", other},
                                                                                         {"N", other},
                                                                                         {"N,N,...", other},
                                                                                         {"FILE", file},
                                                                                         {"A.json", file},
                                                                                         {"NAME=PATH", file},
                                                                                         {"PATH...", file},
                                                                                         {"DIR", directory}})
        EXPECT_EQ(ValueType::of(name).kind, kind) << name;
    EXPECT_EQ(ValueType::of("fp32|mixed").words, (std::vector<std::string>{"fp32", "mixed"}));
}

/// Section of the man page about a command; for the program itself, the text before the first command.
std::string section(const std::string& page, const CommandPage& command) {
    const std::size_t start = command.path.empty() ? 0 : page.find("\n.SS " + command.path + "\n");
    return start == std::string::npos ? "" : page.substr(start, page.find("\n.SS ", start + 1) - start);
}

TEST(HostCommandTree, ManPageAndCompletionsHaveEveryOptionOfEveryCommand) {
    CommandLine line;
    const CommandPage program = command_tree(line.app);
    std::string page = man_page(program, "1.2.3");
    std::erase(page, '\\');  // the man page escapes every dash with it
    const std::string bash = bash_completion(program), zsh = zsh_completion(program), fish = fish_completion(program);
    expect_holds(section(page, program), "vkformer 1.2.3");
    EXPECT_GT(program.all().size(), 25u);
    for (const CommandPage* command : program.all()) {
        const bool own = command != &program;
        for (const CommandOption& option : command->options)
            for (const std::string& name : option.names) {
                if (!name.starts_with("--")) continue;
                const bool flag = option.value.kind == ValueType::Kind::flag;
                const auto holds = [](const std::string& all, const std::string& part) {
                    return all.find(part) != std::string::npos;
                };
                const std::string at = command->path + " " + name;
                const bool elsewhere = own && (option.group == everywhere || name == "--help");
                EXPECT_NE(holds(section(page, *command), "fB" + name + "fR"), elsewhere) << at;
                EXPECT_TRUE(flag || holds(bash, "'" + at.substr(own ? 0 : 1) + "'")) << at;
                EXPECT_TRUE(holds(zsh, name + (flag ? "[" : "=["))) << at;
                EXPECT_TRUE(holds(fish, "'__vkformer_at \\'" + command->path + "\\'' -l " + name.substr(2) + " "))
                    << at;
            }
    }
}

}  // namespace
}  // namespace vkf::test
