// Errors that a person can act on: one line naming what was found and what was wanted.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace vkf {

/// Joins its arguments as a stream would print them.
template <class... Parts>
std::string text(Parts&&... parts) {
    std::ostringstream stream;
    (stream << ... << std::forward<Parts>(parts));
    return stream.str();
}

/// A run that failed for a reason outside the caller's input: device, memory, disk. Exit status 1.
class Error : public std::runtime_error {
public:
    template <class First, class... Rest>
    requires(!std::is_base_of_v<Error, std::remove_cvref_t<First>>)  // copies stay copies
        explicit Error(First&& first, Rest&&... rest)
        : std::runtime_error(text(std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// Bad usage or bad input: a flag, a file, a shape. Exit status 2.
class InputError : public Error {
public:
    using Error::Error;
};

/// Throws InputError with the joined parts unless the condition holds.
template <class... Parts>
void require(bool condition, Parts&&... parts) {
    if (!condition) throw InputError(std::forward<Parts>(parts)...);
}

}  // namespace vkf
