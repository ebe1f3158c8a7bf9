// The program, run as a user runs it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/os.h"
#include "base/subprocess.h"

namespace vkf::test {

/// The program under test: $VKFORMER_PROGRAM, else where CMake has built it.
inline std::string program_path() {
    return os::environment("VKFORMER_PROGRAM").value_or(VKFORMER_PROGRAM);
}

/// What `vkformer WORDS…` does. It must end with status 0.
inline Outcome run_vkformer(std::vector<std::string> words, const std::filesystem::path& output = {}) {
    words.insert(words.begin(), program_path());
    Outcome outcome = run_program(words, {}, output);
    EXPECT_EQ(outcome.status, 0) << words[1] << ": " << outcome.complaint();
    return outcome;
}

/// The document that it prints with --json.
inline nlohmann::json document_of(std::vector<std::string> words) {
    words.insert(words.end(), {"--json", "--quiet"});
    return nlohmann::json::parse(run_vkformer(std::move(words)).output, nullptr, false);
}

}  // namespace vkf::test
