// Calls of C libraries that leave by longjmp when they fail.
#pragma once

#include <array>
#include <csetjmp>
#include <functional>

namespace vkf {

/// Where a library's error handler returns to, and what it says of the error.
struct LibraryFailure {
    std::jmp_buf back;
    std::array<char, 256> reason{};
    bool cut_short = false;  // the library asked for more bytes than there are

    /// For error handlers, which must not return: ends the step that calls the library. A C library's functions and
    /// those it calls back are left without a destructor's call.
    [[noreturn]] void leave(const char* why);
    [[noreturn]] void leave_for_more();
};

/// Runs a step. Returns false if the library failed in it. The step itself must own nothing that has a destructor.
bool completes(LibraryFailure& failure, const std::function<void()>& step);

}  // namespace vkf
