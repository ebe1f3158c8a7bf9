#include "base/os/os.h"

#include "base/error.h"
#include "base/text/utf8.h"
#include "base/text/windows_text.h"

// After Windows' own header.
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <shellapi.h>

#include <algorithm>
#include <cstdlib>
#include <cwchar>
#include <string_view>
#include <utility>

namespace vkf::os {

namespace fs = std::filesystem;

// --- This process --------------------------------------------------------------------------------

namespace {

UINT input_page = 0, output_page = 0;  // the console's original encodings

HANDLE handle_of(int descriptor) {
    return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

void prepare_console() {
    input_page = ::GetConsoleCP();
    output_page = ::GetConsoleOutputCP();
    if (output_page == 0) return;  // no console
    ::SetConsoleCP(CP_UTF8);
    ::SetConsoleOutputCP(CP_UTF8);
    std::atexit([] {
        ::SetConsoleCP(input_page);
        ::SetConsoleOutputCP(output_page);
    });
    DWORD mode = 0;
    for (const int stream : {STANDARD_OUTPUT, STANDARD_ERROR})
        if (::GetConsoleMode(handle_of(stream), &mode))
            ::SetConsoleMode(handle_of(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

}  // namespace

void prepare_process() {
    // A process that crashes should end at once, without a dialog: another one may wait for it.
    ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    for (int stream = STANDARD_INPUT; stream <= STANDARD_ERROR; ++stream) {
        // A standard stream that the parent process closed must not become the first file opened here.
        if (::_get_osfhandle(stream) < 0) {
            const int nothing = ::_wopen(L"NUL", _O_RDWR | _O_BINARY);
            if (nothing != stream && ::_dup2(nothing, stream) != 0) std::_Exit(1);
        }
        ::_setmode(stream, _O_BINARY);
    }
    prepare_console();
}

std::vector<std::string> arguments(int argc, const char* const* argv) {
    int count = 0;
    wchar_t** words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    if (!words) return {argv, argv + argc};
    std::vector<std::string> list;
    for (int i = 0; i < count; ++i) list.push_back(utf8(words[i]));
    ::LocalFree(words);
    return list;
}

fs::path program_path() {
    std::wstring path(32'768, L'\0');  // the longest path
    const DWORD length = ::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
    if (length == 0 || length >= path.size()) throw Error("the path of this program is unknown");
    path.resize(length);
    return path;
}

long process_id() {
    return ::_getpid();
}

double processor_seconds() {
    FILETIME began{}, ended{}, kernel{}, user{};  // in units of 100 ns; the C library's clock() gives real time
    ::GetProcessTimes(::GetCurrentProcess(), &began, &ended, &kernel, &user);
    const auto seconds = [](const FILETIME& time) {
        return 429.4967296 * time.dwHighDateTime + 1e-7 * time.dwLowDateTime;
    };
    return seconds(kernel) + seconds(user);
}

namespace {

void (*interrupt_handler)() = nullptr;

/// Runs in a thread of its own.
BOOL WINAPI take_event(DWORD event) {
    interrupt_handler();
    // When a console closes or a user logs off, the system waits for this function to return and then ends the process,
    // or ends it after some seconds.
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
    return TRUE;
}

}  // namespace

void on_interrupt(void (*handler)()) {
    interrupt_handler = handler;
    ::SetConsoleCtrlHandler(take_event, TRUE);
}

// --- Environment ---------------------------------------------------------------------------------

std::optional<std::string> environment(const char* name) {
    const wchar_t* value = ::_wgetenv(wide(name).c_str());
    return value ? std::optional(utf8(value)) : std::nullopt;
}

void set_environment(const char* name, const std::optional<std::string>& value) {
    ::_wputenv(wide(name + ("=" + value.value_or(""))).c_str());
}

fs::path cache_folder() {
    return environment("LOCALAPPDATA").value_or("");
}

std::vector<fs::path> data_folders() {
    std::vector<fs::path> folders;
    for (const char* name : {"LOCALAPPDATA", "PROGRAMDATA"})
        if (const fs::path folder = environment(name).value_or(""); folder.is_absolute()) folders.push_back(folder);
    return folders;
}

// --- Terminals -----------------------------------------------------------------------------------

bool is_terminal(int descriptor) {
    DWORD mode = 0;
    return ::GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

std::size_t terminal_columns(int descriptor) {
    CONSOLE_SCREEN_BUFFER_INFO info{};
    if (!::GetConsoleScreenBufferInfo(handle_of(descriptor), &info)) return 0;
    return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

}  // namespace vkf::os

// --- Texts as paths ------------------------------------------------------------------------------

// std::filesystem converts a text to a path by the C library's mbrtowc, and the C library that programs for Windows are
// linked with has no UTF-8 locale. The functions below replace the library's; paths become texts as UTF-8 anyway.

extern "C" {

/// Decodes one unit of UTF-16. If a character takes two units, the first is returned with three of its bytes, and
/// `state` keeps the second for the fourth byte. Invalid UTF-8 becomes U+FFFD.
std::size_t mbrtowc(wchar_t* unit, const char* text, std::size_t size, mbstate_t* state) {
    static thread_local mbstate_t own;
    mbstate_t& pending = state ? *state : own;
    if (!text) return pending = 0, 0;
    if (size == 0) return static_cast<std::size_t>(-2);
    wchar_t ignored;
    wchar_t& found = unit ? *unit : ignored;
    if (pending != 0) {
        found = static_cast<wchar_t>(std::exchange(pending, 0));
        return 1;
    }
    const vkf::CodePoint point = vkf::decode_utf8(std::string_view(text, std::min<std::size_t>(size, 4)), 0);
    if (point.bytes < 4) {
        found = static_cast<wchar_t>(point.bytes > 0 ? point.value : 0xfffd);
        return found == 0 ? 0 : std::max<std::size_t>(1, point.bytes);
    }
    found = static_cast<wchar_t>(0xd800 + ((point.value - 0x10000) >> 10));
    pending = static_cast<mbstate_t>(0xdc00 + ((point.value - 0x10000) & 0x3ff));
    return 3;
}

std::size_t mbrlen(const char* text, std::size_t size, mbstate_t* state) {
    static thread_local mbstate_t own;
    return mbrtowc(nullptr, text, size, state ? state : &own);
}

std::size_t mbsrtowcs(wchar_t* units, const char** text, std::size_t size, mbstate_t* state) {
    static thread_local mbstate_t own;
    mbstate_t& pending = state ? *state : own;
    const char* at = *text;
    for (std::size_t count = 0; !units || count < size; ++count) {
        wchar_t unit;
        const std::size_t bytes = mbrtowc(&unit, at, std::char_traits<char>::length(at) + 1, &pending);
        if (units) units[count] = unit;
        if (bytes == 0) {
            if (units) *text = nullptr;
            return count;
        }
        at += bytes;
    }
    *text = at;
    return size;
}
}
