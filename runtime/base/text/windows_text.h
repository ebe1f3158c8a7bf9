// Windows' headers, and conversion of texts for its functions. Only files *_windows.cpp include this.
#pragma once

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX 1
#include <windows.h>

#include <string>
#include <string_view>

namespace vkf::os {

/// Converts UTF-8 to UTF-16, and back; invalid text becomes U+FFFD.
inline std::wstring wide(std::string_view text) {
    const int bytes = static_cast<int>(text.size());
    std::wstring made(static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0)), 0);
    ::MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, made.data(), static_cast<int>(made.size()));
    return made;
}

inline std::string utf8(std::wstring_view text) {
    const int units = static_cast<int>(text.size());
    std::string made(
        static_cast<std::size_t>(::WideCharToMultiByte(CP_UTF8, 0, text.data(), units, nullptr, 0, nullptr, nullptr)),
        0);
    ::WideCharToMultiByte(CP_UTF8, 0, text.data(), units, made.data(), static_cast<int>(made.size()), nullptr, nullptr);
    return made;
}

}  // namespace vkf::os
