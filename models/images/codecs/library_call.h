// Calls of C libraries that exit by longjmp when they fail.
#pragma once

#include <array>
#include <csetjmp>
#include <functional>

namespace vkf {

/// Return point of a library's error handler, and its message about the error.
struct LibraryFailure {
    std::jmp_buf back;
    std::array<char, 256> reason{};
    bool cut_short = false;  // the library asked for more bytes than there are

    /// For error handlers, which must not return: ends the step that calls the library. Functions of the C library, and
    /// those that it calls back, are left without calling destructors.
    [[noreturn]] void leave(const char* why);
    [[noreturn]] void leave_for_more();
};

/// Runs a step. Returns false if the library failed in it. The step itself must own nothing with a destructor.
bool completes(LibraryFailure& failure, const std::function<void()>& step);

}  // namespace vkf
