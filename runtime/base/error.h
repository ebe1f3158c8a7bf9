// Errors that a user can act on: one line that names the value found and the value wanted.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace vkf {

/// Prints as the stream does, but NaN as "nan", since its sign bit depends on the processor and the compiler.
template <class Part>
void print_part(std::ostream& stream, const Part& part) {
    if constexpr (std::is_floating_point_v<Part>)
        if (part != part) {
            stream << "nan";
            return;
        }
    stream << part;
}

/// Joins its arguments as a stream would print them; NaN has no sign.
template <class... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream stream;
    (print_part(stream, parts), ...);
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
