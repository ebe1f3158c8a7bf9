#include "base/os/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/os_file.h"
#include "base/os/os.h"

extern char** environ;

namespace vkf {
namespace {

struct Pipe {
    Pipe() {
        int ends[2];
        if (::pipe(ends) != 0) throw Error("cannot make a pipe: ", std::strerror(errno));
        from = os::File(ends[0]);
        to = os::File(ends[1]);
        for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    os::File from, to;
};

// Parameters of posix_spawn, freed with the object.
class Setup {
public:
    Setup() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        sigset_t signals;
        ::sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&attributes, &signals);
        ::sigaddset(&signals, SIGPIPE);  // ignored in this process; a child without a reader should end
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

// Reads available bytes; closes the pipe at its end.
void read_into(std::string& kept, os::File& from) {
    std::array<char, 4096> chunk;
    const auto count = os::read(from.descriptor(), chunk);
    if (count.value_or(0) == 0)
        from.close();
    else
        kept.append(chunk.data(), *count);
}

}  // namespace

struct ChildProcess::Handles {
    os::File output, errors;
    pid_t id = 0;
    int state = 0;
    bool ended = false;
};

ChildProcess::ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& output)
    : handles_(std::make_unique<Handles>()) {
    Pipe out, err;
    if (!output.empty()) {
        out.from.close();
        out.to = os::File(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!out.to.valid()) throw Error("cannot write ", output.string(), ": ", std::strerror(errno));
    }
    handles_->id = start(words, out.to.descriptor(), err.to.descriptor());
    handles_->output = std::move(out.from);
    handles_->errors = std::move(err.from);
}

ChildProcess::~ChildProcess() {
    if (handles_->ended) return;
    kill();
    int ignored = 0;
    while (::waitpid(handles_->id, &ignored, 0) < 0 && errno == EINTR) {
    }
}

bool ChildProcess::read(std::string& output, std::string& errors, std::chrono::milliseconds most) {
    os::File& out = handles_->output;
    os::File& err = handles_->errors;
    std::array<pollfd, 2> wanted = {{{out.descriptor(), POLLIN, 0}, {err.descriptor(), POLLIN, 0}}};
    const bool came = ::poll(wanted.data(), wanted.size(), static_cast<int>(most.count())) != 0;
    if (wanted[0].revents) read_into(output, out);
    if (wanted[1].revents) read_into(errors, err);
    return came;
}

bool ChildProcess::open() const {
    return handles_->output.valid() || handles_->errors.valid();
}

bool ChildProcess::ended() {
    if (!handles_->ended) handles_->ended = ::waitpid(handles_->id, &handles_->state, WNOHANG) == handles_->id;
    return handles_->ended;
}

int ChildProcess::status() const {
    const int state = handles_->state;
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

void ChildProcess::interrupt() {
    ::kill(handles_->id, SIGTERM);
}

void ChildProcess::kill() {
    ::kill(handles_->id, SIGKILL);
}

std::vector<std::string> program_words() {
    std::vector<std::string> words{os::program_path().string()};
#ifdef __GLIBC__
    // "LOADER --library-path FOLDERS PROGRAM …": the running file is then the loader, and main's first word is PROGRAM.
    std::ifstream line("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> all;
    for (std::string word; std::getline(line, word, '\0');) all.push_back(word);
    const auto program = std::ranges::find(all, std::string_view(program_invocation_name));
    if (program != all.begin() && program != all.end()) words.insert(words.end(), all.begin() + 1, program + 1);
#endif
    return words;
}

std::string status_text(int status) {
    if (status > 128) return text("ended by signal ", status - 128, " (", ::strsignal(status - 128), ")");
    return text("exit status ", status);
}

}  // namespace vkf
