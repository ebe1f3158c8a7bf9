// A library for LD_PRELOAD: counts a program's calls on files, and makes one of them fail.
//     FAULT_OF=names     counts calls that name or unname files, or wait for the disk: rename, fsync, link, unlink,
//                        remove, rmdir and mkdir in all their forms
//     FAULT_OF=writes    counts calls of write
//     FAULT_AT=N         spoils the N-th call; 0 or unset: only counts
//     FAULT=kill         the process is killed before the call, or in the middle of a write
//     FAULT=killed-after the process is killed right after the call
//     FAULT=EIO|ENOSPC   the call fails with this error
//     FAULT=short        for writes: half of the bytes are written
//     FAULT_BELOW=DIR    counts only calls on paths that contain DIR
//     FAULT_COUNT=FILE   writes the count to this file
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <string>

namespace {

std::atomic<long> calls = 0;

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// Path of a name in an open folder, or of an open file (name = null), as far as the system tells it.
std::string path_of(int folder, const char* name) {
    if (name && name[0] == '/') return name;
    std::string link = "/proc/self/" + (folder < 0 ? std::string("cwd") : "fd/" + std::to_string(folder));
    char target[PATH_MAX];
    const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
    return std::string(target, size < 0 ? 0 : static_cast<std::size_t>(size)) + (name ? std::string("/") + name : "");
}

/// Writes the count, at every call: a program may end without running destructors.
void tell(long count) {
    static const int file =
        *variable("FAULT_COUNT") ? ::open(variable("FAULT_COUNT"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    const std::string text = std::to_string(count) + "\n";
    if (file >= 0 && ::pwrite(file, text.data(), text.size(), 0) < 0) std::abort();
}

/// Counts this call if its kind is that of FAULT_OF; true if the call is the one to spoil.
bool is_spoilt(const std::string& kind, const std::string& path) {
    static const std::string below = variable("FAULT_BELOW"), wanted = variable("FAULT_OF");
    static const long at = std::atol(variable("FAULT_AT"));
    if (kind != wanted || path.find(below) == std::string::npos) return false;
    const long number = ++calls;
    tell(number);
    return number == at;
}

/// Makes the call unless it is the one to spoil. `half` writes half of the bytes of a write.
template <class Call, class Half>
auto counted(const std::string& kind, const std::string& path, Call call, Half half) -> decltype(call()) {
    if (!is_spoilt(kind, path)) return call();
    const std::string fault = variable("FAULT");
    if (fault == "short") return half();
    if (fault == "EIO" || fault == "ENOSPC") {
        errno = fault == "EIO" ? EIO : ENOSPC;
        return -1;
    }
    if (fault == "killed-after") call();
    if (fault == "kill") half();
    ::kill(::getpid(), SIGKILL);
    return -1;
}

template <class Call>
int counted(const std::string& path, Call call) {
    return counted("names", path, call, [] { return 0; });
}

template <class Function>
Function* original(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int rename(const char* from, const char* to) noexcept {
    return counted(path_of(-1, to), [&] { return original<decltype(rename)>("rename")(from, to); });
}
int renameat(int a, const char* from, int b, const char* to) noexcept {
    return counted(path_of(b, to), [&] { return original<decltype(renameat)>("renameat")(a, from, b, to); });
}
int fsync(int file) {
    return counted(path_of(file, nullptr), [&] { return original<decltype(fsync)>("fsync")(file); });
}
int link(const char* from, const char* to) noexcept {
    return counted(path_of(-1, to), [&] { return original<decltype(link)>("link")(from, to); });
}
int linkat(int a, const char* from, int b, const char* to, int flags) noexcept {
    return counted(path_of(b, to), [&] { return original<decltype(linkat)>("linkat")(a, from, b, to, flags); });
}
int unlink(const char* path) noexcept {
    return counted(path_of(-1, path), [&] { return original<decltype(unlink)>("unlink")(path); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    return counted(path_of(folder, path),
                   [&] { return original<decltype(unlinkat)>("unlinkat")(folder, path, flags); });
}
int remove(const char* path) noexcept {
    return counted(path_of(-1, path), [&] { return original<decltype(remove)>("remove")(path); });
}
int rmdir(const char* path) noexcept {
    return counted(path_of(-1, path), [&] { return original<decltype(rmdir)>("rmdir")(path); });
}
int mkdir(const char* path, mode_t mode) noexcept {
    return counted(path_of(-1, path), [&] { return original<decltype(mkdir)>("mkdir")(path, mode); });
}
ssize_t write(int file, const void* bytes, size_t size) {
    static auto* const real = original<decltype(write)>("write");
    if (*variable("FAULT_OF") != 'w') return real(file, bytes, size);  // not counted: looking up the path is slow
    return counted(
        "writes", path_of(file, nullptr), [&] { return real(file, bytes, size); },
        [&] { return real(file, bytes, (size + 1) / 2); });
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
    return counted(path_of(folder, path), [&] { return original<decltype(mkdirat)>("mkdirat")(folder, path, mode); });
}
}
