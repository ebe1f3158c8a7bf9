// The program, run as a user runs it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/subprocess.h"

namespace vkf::test {

/// What `vkformer WORDS…` does; VKFORMER_PROGRAM is where CMake builds it. It must end with status 0.
inline Outcome run_vkformer(std::vector<std::string> words, const std::filesystem::path& output = {}) {
    words.insert(words.begin(), VKFORMER_PROGRAM);
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
