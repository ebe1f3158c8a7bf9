// Runs the program as a user does.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/os/os.h"
#include "base/os/subprocess.h"

namespace vkf::test {

/// Path of the program under test: $VKFORMER_PROGRAM, else the one that CMake built.
inline std::string program_path() {
    return os::environment("VKFORMER_PROGRAM").value_or(VKFORMER_PROGRAM);
}

/// Runs `vkformer WORDS…`, which must end with status 0, and returns its outcome.
inline Outcome run_vkformer(std::vector<std::string> words, const std::filesystem::path& output = {}) {
    words.insert(words.begin(), program_path());
    Outcome outcome = run_program(words, {}, output);
    EXPECT_EQ(outcome.status, 0) << words[1] << ": " << outcome.complaint();
    return outcome;
}

/// Runs `vkformer WORDS… --json --quiet` and returns the document that it prints.
inline nlohmann::json document_of(std::vector<std::string> words) {
    words.insert(words.end(), {"--json", "--quiet"});
    return nlohmann::json::parse(run_vkformer(std::move(words)).output, nullptr, false);
}

}  // namespace vkf::test
