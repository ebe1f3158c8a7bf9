// Small functions of integers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vkf {

/// a / b rounded up; a is not negative and b is positive.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// i, which is not negative, as an index of a container.
constexpr std::size_t as_index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace vkf
