// The program `vkformer`: what a process wants before anything else, then its command line.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "apps/command_line.h"

namespace {

/// A standard stream that was closed by whoever started us must not become the first file we open.
void occupy_standard_streams() {
    for (int stream = 0; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != stream) ::_exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_streams();
    std::signal(SIGPIPE, SIG_IGN);  // writing tells us instead
    std::signal(SIGXFSZ, SIG_IGN);
    return vkf::run_command_line(argc, argv);
}
