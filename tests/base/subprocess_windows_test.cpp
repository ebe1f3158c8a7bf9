#include "base/os/subprocess.h"

#include <chrono>

#include "base/files/file.h"
#include "base/text/windows_text.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;
using Words = std::vector<std::string>;

/// Runs a script in cmd, which parses its command line in its own way: the script must not have quotation marks.
Words shell(const std::string& script) {
    Words words{"cmd", "/c"};
    std::istringstream stream(script);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

TEST(HostSubprocess, BothStreamsAndTheStatusComeBack) {
    const Outcome outcome = run_program(shell("echo words& echo first>&2& echo second>&2& exit 3"));
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.output, "words\r\n");
    EXPECT_EQ(outcome.errors, "first\r\nsecond\r\n");
    EXPECT_EQ(outcome.complaint(), "first");
    EXPECT_FALSE(outcome.stopped);
    EXPECT_EQ(run_program(shell("exit 0")).status, 0);
    EXPECT_EQ(run_program(shell("exit 1")).complaint(), "exit status 1");
}

TEST(HostSubprocess, OutputGoesToAFileInPlaceOfWhatItHeld) {
    const Scratch scratch;
    const fs::path file = scratch.file("öut put", "something longer than the new words");
    const Outcome outcome = run_program(shell("echo words& echo warning>&2"), {}, file);
    EXPECT_EQ(read_text(file), "words\r\n");
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors, "warning\r\n");
    const fs::path nowhere = scratch.path() / "no" / "file";
    expect_holds(complaint<Error>([&] { run_program(shell("exit 0"), {}, nowhere); }), nowhere.string());
}

TEST(HostSubprocess, ArgumentsReachTheProgramAsTheyAre) {
    // The program's error message repeats the word that it does not know.
    for (const std::string word : {"--a  b", "--\"quoted\" \\", "--back\\\\slash\\", "--ä模𝄞", "--*"}) {
        const Outcome outcome = run_program({VKFORMER_PROGRAM, word});
        EXPECT_EQ(outcome.status, 2);
        expect_holds(outcome.errors, "'" + word + "'");
    }
}

TEST(HostSubprocess, WhatCannotBeRunIsNamed) {
    expect_holds(complaint<Error>([] { run_program({"no-such-program-anywhere"}); }), "no-such-program-anywhere");
    const Scratch scratch;
    const fs::path file = scratch.file("plain.exe", "no program");
    expect_holds(complaint<Error>([&] { run_program({file.string()}); }), "cannot run " + file.string());
    expect_holds(complaint([] { run_program({}); }), "no program");
}

TEST(HostSubprocess, AProgramEndsWhenToldTo) {
    const auto start = std::chrono::steady_clock::now();
    int asked = 0;
    const Outcome outcome = run_program(shell("ping -n 60 127.0.0.1"), [&] { return ++asked < 3; });
    EXPECT_TRUE(outcome.stopped);
    EXPECT_EQ(outcome.status, 128 + 15);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace vkf
