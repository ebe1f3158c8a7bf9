#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"

extern char** environ;

namespace vkf {
namespace {

constexpr std::size_t MOST_KEPT = 64 * 1024;
constexpr std::chrono::seconds PATIENCE{3};  // between asking a program to end and ending it

class Descriptor {
public:
    explicit Descriptor(int value = -1) : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Descriptor() { close(); }

    int value() const { return value_; }
    void close() {
        if (value_ >= 0) ::close(std::exchange(value_, -1));
    }

private:
    int value_;
};

struct Pipe {
    Pipe() {
        int ends[2];
        if (::pipe(ends) != 0) throw Error("cannot make a pipe: ", std::strerror(errno));
        from = Descriptor(ends[0]);
        to = Descriptor(ends[1]);
        for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    Descriptor from, to;
};

// What posix_spawn wants to know, freed afterwards.
class Setup {
public:
    Setup() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        sigset_t signals;
        ::sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&attributes, &signals);
        ::sigaddset(&signals, SIGPIPE);  // ignored by us; a program that nobody reads should end
        ::posix_spawnattr_setsigdefault(&attributes, &signals);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    Setup(const Setup&) = delete;
    Setup& operator=(const Setup&) = delete;
    ~Setup() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

// A process that does not outlive this object.
class Child {
public:
    explicit Child(pid_t id) : id_(id) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (ended_) return;
        signal(SIGKILL);
        int ignored = 0;
        while (::waitpid(id_, &ignored, 0) < 0 && errno == EINTR) {
        }
    }

    void signal(int number) const { ::kill(id_, number); }
    int status() const { return WIFSIGNALED(state_) ? 128 + WTERMSIG(state_) : WEXITSTATUS(state_); }
    bool ended() {
        if (!ended_) ended_ = ::waitpid(id_, &state_, WNOHANG) == id_;
        return ended_;
    }

private:
    pid_t id_;
    int state_ = 0;
    bool ended_ = false;
};

pid_t start(const std::vector<std::string>& words, int output, int errors) {
    Setup setup;
    ::posix_spawn_file_actions_addopen(&setup.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&setup.actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&setup.actions, errors, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t id = 0;
    const int failure = ::posix_spawnp(&id, arguments[0], &setup.actions, &setup.attributes, arguments.data(), environ);
    if (failure == ENOENT) throw Error("the program ", words[0], " is needed here and is not installed");
    if (failure != 0) throw Error("cannot run ", words[0], ": ", std::strerror(failure));
    return id;
}

// Takes what has arrived; closes the pipe at its end.
void read_into(std::string& kept, Descriptor& from) {
    std::array<char, 4096> chunk;
    const ssize_t count = ::read(from.value(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return from.close();
    kept.append(chunk.data(), std::min(static_cast<std::size_t>(count), MOST_KEPT - kept.size()));
}

}  // namespace

Outcome run_program(const std::vector<std::string>& words, const GoOn& go_on, const std::filesystem::path& output) {
    require(!words.empty() && !words[0].empty(), "run_program: no program is named");
    Pipe out, err;
    if (!output.empty()) {
        out.from.close();
        out.to = Descriptor(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (out.to.value() < 0) throw Error("cannot write ", output.string(), ": ", std::strerror(errno));
    }
    Child child(start(words, out.to.value(), err.to.value()));
    out.to.close();
    err.to.close();

    Outcome outcome;
    std::chrono::steady_clock::time_point asked;
    for (bool quiet = false;;) {
        // What the program itself started may hold the pipes longer than it lives: then silence is the end.
        const bool open = out.from.value() >= 0 || err.from.value() >= 0;
        if (child.ended() && (!open || quiet)) break;
        std::array<pollfd, 2> wanted = {{{out.from.value(), POLLIN, 0}, {err.from.value(), POLLIN, 0}}};
        quiet = ::poll(wanted.data(), wanted.size(), open ? 100 : 5) == 0;
        if (wanted[0].revents) read_into(outcome.output, out.from);
        if (wanted[1].revents) read_into(outcome.errors, err.from);
        const auto now = std::chrono::steady_clock::now();
        if (outcome.stopped && now - asked > PATIENCE) child.signal(SIGKILL);
        if (outcome.stopped || !go_on || go_on()) continue;
        outcome.stopped = true;
        asked = now;
        child.signal(SIGTERM);
    }
    // Ctrl-C in a terminal reaches the child too, and perhaps first.
    outcome.stopped = outcome.stopped || (go_on && !go_on());
    outcome.status = child.status();
    return outcome;
}

std::string Outcome::complaint() const {
    const std::size_t first = errors.find_first_not_of("\r\n");
    if (first != std::string::npos) return errors.substr(first, errors.find_first_of("\r\n", first) - first);
    if (status > 128) return text("ended by signal ", status - 128, " (", ::strsignal(status - 128), ")");
    return text("exit status ", status);
}

}  // namespace vkf
