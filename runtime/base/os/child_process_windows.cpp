#include "base/os/child_process.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/os/os.h"
#include "base/text/windows_text.h"

namespace vkf {

namespace {

constexpr std::chrono::milliseconds PAUSE{5};                  // pipes cannot be waited for
constexpr UINT ENDED_ON_REQUEST = 128 + 15, KILLED = 128 + 9;  // the statuses that shells report on POSIX

/// A handle that is closed with the object.
class Handle {
public:
    explicit Handle(HANDLE value = nullptr) : value_(value == INVALID_HANDLE_VALUE ? nullptr : value) {}
    Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Handle() { close(); }

    HANDLE get() const { return value_; }
    explicit operator bool() const { return value_ != nullptr; }
    void close() {
        if (value_) ::CloseHandle(std::exchange(value_, nullptr));
    }

private:
    HANDLE value_;
};

std::string reason() {
    return std::error_code(static_cast<int>(::GetLastError()), std::system_category()).message();
}

SECURITY_ATTRIBUTES inherited{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};

struct Pipe {
    Pipe() {
        HANDLE ends[2];
        if (!::CreatePipe(&ends[0], &ends[1], &inherited, 0)) throw Error("cannot make a pipe: ", reason());
        from = Handle(ends[0]);
        to = Handle(ends[1]);
        ::SetHandleInformation(from.get(), HANDLE_FLAG_INHERIT, 0);
    }
    Handle from, to;
};

/// A word quoted for a command line, which programs split by the rules of CommandLineToArgvW.
std::wstring quoted(const std::wstring& word) {
    if (!word.empty() && word.find_first_of(L" \t\n\v\"") == word.npos) return word;
    std::wstring made = L"\"";
    std::size_t backslashes = 0;  // special only before a quotation mark
    for (const wchar_t unit : word) {
        if (unit == L'"') made.append(backslashes + 1, L'\\');
        backslashes = unit == L'\\' ? backslashes + 1 : 0;
        made += unit;
    }
    return made.append(backslashes, L'\\') + L'"';
}

/// Path of the program; empty if there is none.
std::wstring find_program(const std::wstring& name) {
    const bool path = name.find_first_of(L"/\\") != name.npos;
    std::array<wchar_t, 32768> found;
    const DWORD size = ::SearchPathW(path ? L"." : ::_wgetenv(L"PATH"), name.c_str(), L".exe",
                                     static_cast<DWORD>(found.size()), found.data(), nullptr);
    return {found.data(), size < found.size() ? size : 0};
}

Handle open_nothing() {
    return Handle(
        ::CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, nullptr));
}

Handle start(const std::vector<std::string>& words, HANDLE output, HANDLE errors) {
    const std::wstring program = find_program(os::wide(words[0]));
    if (program.empty()) throw Error("the program ", words[0], " is needed here and is not installed");
    std::wstring line;
    for (const std::string& word : words) line += (line.empty() ? L"" : L" ") + quoted(os::wide(word));

    // The child inherits only these handles.
    const Handle input = open_nothing();
    std::array<HANDLE, 3> streams{input.get(), output, errors};
    SIZE_T size = 0;
    ::InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    std::vector<std::byte> memory(size);
    STARTUPINFOEXW info{};
    info.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory.data());
    ::InitializeProcThreadAttributeList(info.lpAttributeList, 1, 0, &size);
    ::UpdateProcThreadAttribute(info.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, streams.data(),
                                sizeof streams, nullptr, nullptr);
    info.StartupInfo.cb = sizeof info;
    info.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    info.StartupInfo.hStdInput = streams[0];
    info.StartupInfo.hStdOutput = streams[1];
    info.StartupInfo.hStdError = streams[2];
    PROCESS_INFORMATION process{};
    const BOOL started = ::CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE,
                                          EXTENDED_STARTUPINFO_PRESENT, nullptr, nullptr, &info.StartupInfo, &process);
    const std::string failure = started ? "" : reason();
    ::DeleteProcThreadAttributeList(info.lpAttributeList);
    if (!started) throw Error("cannot run ", words[0], ": ", failure);
    ::CloseHandle(process.hThread);
    return Handle(process.hProcess);
}

/// Reads available bytes; closes the pipe at its end. False if nothing is available.
bool read_into(std::string& kept, Handle& from) {
    if (!from) return false;
    std::array<char, 4096> chunk;
    DWORD waiting = 0, count = 0;
    if (::PeekNamedPipe(from.get(), nullptr, 0, nullptr, &waiting, nullptr)) {
        if (waiting == 0) return false;
        if (::ReadFile(from.get(), chunk.data(), std::min<DWORD>(waiting, chunk.size()), &count, nullptr)) {
            kept.append(chunk.data(), count);
            return true;
        }
    }
    from.close();
    return true;
}

}  // namespace

struct ChildProcess::Handles {
    Handle output, errors, process;
};

ChildProcess::ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& output)
    : handles_(std::make_unique<Handles>()) {
    Pipe out, err;
    if (!output.empty()) {
        out.from.close();
        out.to = Handle(::CreateFileW(output.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                                      CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
        if (!out.to) throw Error("cannot write ", output.string(), ": ", reason());
    }
    handles_->process = start(words, out.to.get(), err.to.get());
    handles_->output = std::move(out.from);
    handles_->errors = std::move(err.from);
}

ChildProcess::~ChildProcess() {
    if (ended()) return;
    kill();
    ::WaitForSingleObject(handles_->process.get(), INFINITE);
}

bool ChildProcess::read(std::string& output, std::string& errors, std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    for (;;) {
        const bool said = read_into(output, handles_->output), complained = read_into(errors, handles_->errors);
        if (said || complained) return true;
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(PAUSE);
    }
}

bool ChildProcess::open() const {
    return handles_->output || handles_->errors;
}

bool ChildProcess::ended() {
    return ::WaitForSingleObject(handles_->process.get(), 0) == WAIT_OBJECT_0;
}

int ChildProcess::status() const {
    DWORD status = 0;
    ::GetExitCodeProcess(handles_->process.get(), &status);
    return static_cast<int>(status);
}

// Windows has no request to end that every program understands.
void ChildProcess::interrupt() {
    ::TerminateProcess(handles_->process.get(), ENDED_ON_REQUEST);
}

void ChildProcess::kill() {
    ::TerminateProcess(handles_->process.get(), KILLED);
}

std::vector<std::string> program_words() {
    return {os::program_path().string()};
}

std::string status_text(int status) {
    return text("exit status ", status);
}

}  // namespace vkf
