#include "base/os/subprocess.h"

#include <chrono>
#include <csignal>

#include "base/files/file.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;
using Words = std::vector<std::string>;

Words shell(const std::string& script) {
    return {"sh", "-c", script};
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(HostSubprocess, BothStreamsAndTheStatusComeBack) {
    const Outcome outcome = run_program(shell("echo words; echo first >&2; echo second >&2; exit 3"));
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.output, "words\n");
    EXPECT_EQ(outcome.errors, "first\nsecond\n");
    EXPECT_EQ(outcome.complaint(), "first");
    EXPECT_FALSE(outcome.stopped);
    EXPECT_EQ(run_program({"true"}).status, 0);
    EXPECT_EQ(run_program({"false"}).complaint(), "exit status 1");
}

TEST(HostSubprocess, ArgumentsReachTheProgramAsTheyAre) {
    const Words odd = {"printf", "<%s>", "$HOME; echo no", "a  b", "", "*", "\"'\\\n"};
    EXPECT_EQ(run_program(odd).output, "<$HOME; echo no><a  b><><*><\"'\\\n>");
}

TEST(HostSubprocess, StandardInputIsEmpty) {
    EXPECT_EQ(run_program({"wc", "-c"}).output.find_first_not_of(" 0\n"), std::string::npos);
}

TEST(HostSubprocess, OutputGoesToAFileInPlaceOfWhatItHeld) {
    const Scratch scratch;
    const fs::path file = scratch.file("out", "something longer than the new words");
    const Outcome outcome = run_program(shell("echo words; echo warning >&2"), {}, file);
    EXPECT_EQ(read_text(file), "words\n");
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors, "warning\n");
    expect_holds(complaint<Error>([&] { run_program({"true"}, {}, scratch.path() / "no" / "file"); }), "no/file");
}

TEST(HostSubprocess, AFloodNeitherBlocksNorFillsMemory) {
    const Outcome outcome = run_program(shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 4"));
    EXPECT_EQ(outcome.status, 4);
    EXPECT_EQ(outcome.output.size(), 64u * 1024);
    EXPECT_EQ(outcome.errors.size(), 64u * 1024);
}

TEST(HostSubprocess, WhatCannotBeRunIsNamed) {
    expect_holds(complaint<Error>([] { run_program({"no-such-program-anywhere"}); }), "no-such-program-anywhere");
    const Scratch scratch;
    const fs::path file = scratch.file("plain", "no program");
    expect_holds(complaint<Error>([&] { run_program({file.string()}); }), "cannot run " + file.string());
    expect_holds(complaint([] { run_program({}); }), "no program");
}

TEST(HostSubprocess, ASignalIsAStatus) {
    const Outcome outcome = run_program(shell("kill -9 $$"));
    EXPECT_EQ(outcome.status, 128 + SIGKILL);
    expect_holds(outcome.complaint(), "ended by signal 9");
}

TEST(HostSubprocess, IgnoredPipeSignalsAreNotInherited) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(run_program(shell("kill -PIPE $$; echo still here")).output, "");
    std::signal(SIGPIPE, before);
}

TEST(HostSubprocess, AProgramEndsWhenToldTo) {
    int asked = 0;
    Outcome outcome;
    const double seconds = seconds_of([&] { outcome = run_program({"sleep", "60"}, [&] { return ++asked < 3; }); });
    EXPECT_TRUE(outcome.stopped);
    EXPECT_EQ(outcome.status, 128 + SIGTERM);
    EXPECT_EQ(asked, 3);
    EXPECT_LT(seconds, 30);
}

TEST(HostSubprocess, AProgramThatWillNotEndIsEnded) {
    Outcome outcome;
    const double seconds = seconds_of([&] {
        outcome = run_program({"sh", "-c", "trap '' TERM; while :; do sleep 1; done"}, [n = 0]() mutable {
            return ++n < 5;  // after the shell has set its trap
        });
    });
    EXPECT_TRUE(outcome.stopped);
    EXPECT_EQ(outcome.status, 128 + SIGKILL);
    EXPECT_LT(seconds, 30);
}

TEST(HostSubprocess, NoChildOutlivesAnException) {
    const Scratch scratch;
    const fs::path number = scratch.path() / "pid";
    const auto run = [&] {
        run_program(shell("echo $$ >" + number.string() + ".new; mv " + number.string() + ".new " + number.string() +
                          "; exec sleep 60"),
                    [&]() -> bool {
                        if (fs::exists(number)) throw Error("enough");
                        return true;
                    });
    };
    EXPECT_EQ(complaint<Error>(run), "enough");
    EXPECT_NE(::kill(std::stoi(read_text(number)), 0), 0);
}

TEST(HostSubprocess, AGrandchildDoesNotHoldUsUp) {
    EXPECT_LT(seconds_of([] { EXPECT_EQ(run_program(shell("echo done; sleep 20 & exit 0")).output, "done\n"); }), 15);
}

}  // namespace
}  // namespace vkf
