// A temporary folder for a test's files, and the message of a failure.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/os/os.h"

namespace vkf::test {

/// Contents of a file; "" if there is none.
inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Scratch {
public:
    Scratch() {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        path_ = std::filesystem::temp_directory_path() /
                text("vkformer-", info->test_suite_name(), "-", info->name(), "-", os::process_id());
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }

    /// Writes a file below the folder, makes its directories, and returns its path.
    std::filesystem::path file(const std::filesystem::path& name, std::string_view bytes) const {
        const std::filesystem::path path = path_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
        return path;
    }

private:
    std::filesystem::path path_;
};

/// Message of the exception that a call throws, which must be one line; empty if it does not throw.
template <class Failure = InputError>
std::string complaint(const std::function<void()>& call) {
    try {
        call();
    } catch (const Failure& failure) {
        const std::string message = failure.what();
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        return message;
    }
    return {};
}

/// Replaces the system's path separators by slashes.
inline std::string with_slashes(std::string_view words) {
    std::string made(words);
    std::ranges::replace(made, static_cast<char>(std::filesystem::path::preferred_separator), '/');
    return made;
}

inline void expect_holds(const std::string& message, std::string_view part) {
    EXPECT_NE(with_slashes(message).find(with_slashes(part)), std::string::npos)
        << "'" << message << "' lacks '" << part << "'";
}

}  // namespace vkf::test
