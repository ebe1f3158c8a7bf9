// Output on a terminal, and handling of signals.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/cli/terminal.h"

namespace vkf {
namespace {

/// A pseudo terminal.
class Terminal {
public:
    Terminal() : screen_(::posix_openpt(O_RDWR | O_NOCTTY)) {
        ::grantpt(screen_);
        ::unlockpt(screen_);
        program_ = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() {
        ::close(program_);
        ::close(screen_);
    }

    int descriptor() const { return program_; }
    void resize(unsigned short columns) const {
        const winsize size{24, columns, 0, 0};
        ASSERT_EQ(::ioctl(program_, TIOCSWINSZ, &size), 0);
    }
    /// Output since the last call.
    std::string seen() const {
        char bytes[4096];
        const ssize_t count = ::read(screen_, bytes, sizeof bytes);
        return {bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    }

private:
    int screen_, program_;
};

TEST(HostTerminal, WidthIsThatOfTheTerminalElseOfTheEnvironmentElse80) {
    const Terminal terminal;
    for (const unsigned short columns : {std::uint16_t{20}, std::uint16_t{133}}) {
        terminal.resize(columns);
        EXPECT_EQ(terminal_columns(terminal.descriptor()), columns);
    }
    terminal.resize(0);  // a terminal that does not tell its width
    ::setenv("COLUMNS", "57", 1);
    EXPECT_EQ(terminal_columns(terminal.descriptor()), 57u);
    ::setenv("COLUMNS", "wide", 1);
    EXPECT_EQ(terminal_columns(terminal.descriptor()), 80u);
    ::unsetenv("COLUMNS");
    EXPECT_EQ(terminal_columns(terminal.descriptor()), 80u);
}

TEST(HostTerminal, ProgressFollowsTheWidth) {
    ::setenv("TERM", "xterm", 1);
    const Terminal terminal;
    const int errors = ::dup(STDERR_FILENO);
    ::dup2(terminal.descriptor(), STDERR_FILENO);
    std::string narrow, wide;
    {
        Progress progress(Common{}, "train", "step", 1000);
        const auto line = [&](unsigned short columns, std::int64_t done) {
            terminal.resize(columns);
            ::usleep(150'000);
            progress.update(done, "loss 2.3100, 1000 tokens/s");
            return terminal.seen();
        };
        narrow = line(20, 10);
        wide = line(200, 20);
    }
    ::dup2(errors, STDERR_FILENO);
    ::close(errors);
    EXPECT_EQ(narrow.substr(0, 15), "\rtrain: 10/1000");
    EXPECT_EQ(narrow.size(), 1 + 19 + std::string("\x1b[K").size()) << narrow;
    EXPECT_NE(wide.find("loss 2.3100, 1000 tokens/s\x1b[K"), std::string::npos) << wide;
}

TEST(HostTerminal, NothingIsRewrittenOnADumbTerminal) {
    const Terminal terminal;
    ::setenv("TERM", "dumb", 1);
    EXPECT_FALSE(rewrites_lines(terminal.descriptor()));
    ::setenv("TERM", "xterm", 1);
    EXPECT_TRUE(rewrites_lines(terminal.descriptor()));
    EXPECT_FALSE(rewrites_lines(-1));
}

/// Status of a process that gets signals at these milliseconds and ends by itself after two seconds: with 7 if it was
/// interrupted, else with 8. Minus the signal if a signal killed it.
int status_with(std::initializer_list<std::pair<int, int>> signals) {
    const pid_t child = ::fork();
    if (child == 0) {
        catch_interrupts();
        int now = 0;
        for (const auto& [at, signal] : signals) {
            ::usleep(static_cast<useconds_t>(1000 * (at - now)));
            now = at;
            ::raise(signal);
        }
        ::usleep(static_cast<useconds_t>(1000 * (2000 - now)));
        ::_exit(interrupted() ? 7 : 8);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(HostInterrupts, OnlyASecondSignalOfASecondLaterEndsTheProgramAtOnce) {
    EXPECT_EQ(status_with({}), 8);
    EXPECT_EQ(status_with({{0, SIGTERM}, {1, SIGTERM}, {50, SIGTERM}, {300, SIGINT}}), 7);
    EXPECT_EQ(status_with({{0, SIGINT}, {1100, SIGINT}}), 130);
    EXPECT_EQ(status_with({{0, SIGTERM}, {10, SIGTERM}, {1100, SIGTERM}}), 130);
}

}  // namespace
}  // namespace vkf
