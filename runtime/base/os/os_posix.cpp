#include "base/os/os.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace vkf::os {

namespace fs = std::filesystem;

// --- This process --------------------------------------------------------------------------------

void prepare_process() {
    // A standard stream that the parent process closed must not become the first file opened here.
    for (int stream = 0; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != stream) ::_exit(1);
    std::signal(SIGPIPE, SIG_IGN);  // write() fails instead
    std::signal(SIGXFSZ, SIG_IGN);
#ifdef __GLIBC__
    ::mallopt(M_MMAP_THRESHOLD, 1 << 20);  // else it grows, and memory that drivers free after compiling is kept
#endif
}

std::vector<std::string> arguments(int argc, const char* const* argv) {
    return {argv, argv + argc};
}

fs::path program_path() {
    std::error_code error;
#ifdef __APPLE__
    std::string path(4096, '\0');
    std::uint32_t size = static_cast<std::uint32_t>(path.size());
    if (::_NSGetExecutablePath(path.data(), &size) == 0) return path.c_str();
#else
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    if (!error) return path;
#endif
    throw Error("the path of this program is unknown: ", error.message());
}

long process_id() {
    return ::getpid();
}

double processor_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

namespace {

void (*interrupt_handler)() = nullptr;

}  // namespace

void on_interrupt(void (*handler)()) {
    interrupt_handler = handler;
    struct sigaction action {};
    action.sa_handler = [](int) { interrupt_handler(); };
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

// --- Environment ---------------------------------------------------------------------------------

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
}

void set_environment(const char* name, const std::optional<std::string>& value) {
    value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
}

fs::path cache_folder() {
    if (const auto xdg = environment("XDG_CACHE_HOME"); xdg && !xdg->empty()) return *xdg;
    if (const auto home = environment("HOME"); home && !home->empty()) return fs::path(*home) / ".cache";
    return {};
}

std::vector<fs::path> data_folders() {
    std::vector<fs::path> folders;
    const auto add = [&](const fs::path& folder) {
        if (folder.is_absolute()) folders.push_back(folder);
    };
    const std::string user = environment("XDG_DATA_HOME").value_or(""),
                      dirs = environment("XDG_DATA_DIRS").value_or("");
    add(user.empty() ? fs::path(environment("HOME").value_or("")) / ".local/share" : fs::path(user));
    std::string_view rest = dirs.empty() ? "/usr/local/share:/usr/share" : std::string_view(dirs);
    for (std::size_t end = 0; end != rest.npos; rest.remove_prefix(end == rest.npos ? 0 : end + 1)) {
        end = rest.find(':');
        add(rest.substr(0, end));
    }
    return folders;
}

// --- Terminals -----------------------------------------------------------------------------------

bool is_terminal(int descriptor) {
    return ::isatty(descriptor) == 1;
}

std::size_t terminal_columns(int descriptor) {
    winsize size{};
    return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace vkf::os
