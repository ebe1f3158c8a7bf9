// Tests commands and options: kinds of results, the order of names in --help, values that are not from a command line.

#include "apps/cli/command.h"

#include <gtest/gtest.h>

#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "scratch.h"

namespace vkf::test {
namespace {

using Kind = cli::ParseResult::Kind;

/// A program with one command, which has options and takes one argument.
struct Program {
    cli::RootCommand app{"program", "A program."};
    cli::Command& command = app.add_subcommand("work", "Does the work.");
    std::string path;
    std::int64_t count = 3;
    std::vector<std::string> words;
    bool all = false, fast = true;
    int calls = 0;

    Program() {
        app.version("program 1.2");
        command.add_option("path", path, "A path").required().type_name("PATH");
        command.add_option("--count", count, "A count").type_name("N").check(whole(1, 9)).capture_default_str();
        command.add_option("--word", words, "A word").type_name("TEXT").one_word_each();
        command.add_flag("--all", all, "Everything").needs("--word").excludes("--count");
        command.add_flag("--fast,!--no-fast", fast, "Quickly").excludes("--all").excludes("--word").excludes("--count");
        command.callback([this] { ++calls; });
    }

    cli::ParseResult parse(std::vector<const char*> words_of_line) {
        words_of_line.insert(words_of_line.begin(), "program");
        return app.parse(static_cast<int>(words_of_line.size()), words_of_line.data());
    }
};

TEST(HostCommand, WorksAfterTheWholeLineIsRead) {
    Program program;
    const cli::ParseResult result = program.parse({"work", "--word", "a", "here", "--word=b", "--count", "4"});
    EXPECT_EQ(result.kind, Kind::done) << result.message;
    EXPECT_EQ(program.calls, 1);
    EXPECT_EQ(program.path, "here");
    EXPECT_EQ(program.count, 4);
    EXPECT_EQ(program.words, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(program.command.count("--word"), 2u);
    EXPECT_EQ(program.app.chosen_subcommand(), &program.command);
    EXPECT_EQ(program.command.parent(), &program.app);
}

TEST(HostCommand, AWrongLineIsAnErrorAndNoWork) {
    for (const auto& [line, message] : std::vector<std::pair<std::vector<const char*>, std::string>>{
             {{"work", "here", "--count", "10"}, "--count: found 10, wanted a whole number from 1 to 9"},
             {{"work"}, "path is required"},
             {{"work", "here", "--all"}, "--all requires --word"},
             {{"work", "here", "--all", "--word", "a", "--count", "4"}, "--count excludes --all"}}) {
        Program program;
        const cli::ParseResult result = program.parse(line);
        EXPECT_EQ(result.kind, Kind::error);
        EXPECT_EQ(result.message, message);
        EXPECT_EQ(program.calls, 0);
    }
}

TEST(HostCommand, HelpAndVersionAreResults) {
    Program version;
    const cli::ParseResult result = version.parse({"--version"});
    EXPECT_EQ(result.kind, Kind::version);
    EXPECT_EQ(result.message, "program 1.2");
    Program help;
    EXPECT_EQ(help.parse({"work", "--help"}).kind, Kind::help);
    EXPECT_EQ(help.calls, 0);
    expect_holds(help.app.help(), "Usage: program work [OPTIONS] path");
}

TEST(HostCommand, HelpNamesOtherOptionsInTheOrderOfTheirDeclaration) {
    Program program;
    program.parse({"work", "--help"});
    const std::string help = program.app.help();
    expect_holds(help, "--count N=3 Excludes: --all --fast");
    expect_holds(help, "--all Needs: --word Excludes: --count --fast");
    expect_holds(help, "--fast,--no-fast{false} Excludes: --count --word --all");
}

TEST(HostCommand, AnOptionTakesWordsThatAreOnNoCommandLine) {
    Program program;
    cli::Option count = program.command.option("--count");
    EXPECT_EQ(count.take({"5"}), "");
    EXPECT_EQ(program.count, 5);
    cli::Option word = program.command.option("--word");
    EXPECT_EQ(word.take({"a", "b"}), "");
    EXPECT_EQ(program.words, (std::vector<std::string>{"a", "b"}));
    Program wrong;
    EXPECT_EQ(wrong.command.option("--count").take({"x"}), "found x, wanted a whole number from 1 to 9");
}

TEST(HostCommand, AnOptionDescribesItself) {
    Program program;
    const cli::Option count = program.command.option("--count"), fast = program.command.option("--no-fast");
    EXPECT_EQ(count.default_str(), "3");
    EXPECT_TRUE(count.has_check("number"));
    EXPECT_FALSE(fast.has_check("number"));
    EXPECT_EQ(count.complaint("0"), "found 0, wanted a whole number from 1 to 9");
    EXPECT_EQ(count.complaint("1"), "");
    EXPECT_EQ(fast.name(), "--fast");
    EXPECT_EQ(fast.long_names(), (std::vector<std::string>{"fast", "no-fast"}));
    EXPECT_TRUE(fast.is_flag());
    EXPECT_TRUE(program.command.option("--word").takes_several());
    EXPECT_TRUE(program.command.option("path").is_positional());
    EXPECT_FALSE(program.command.find_option("--none"));
}

}  // namespace
}  // namespace vkf::test
