// Other programs: run without a shell, their words captured, and ended when we are told to stop.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace vkf {

/// Asked about ten times a second; false ends what runs. An empty one never ends anything.
using GoOn = std::function<bool()>;

/// What a program did. Of each stream the first 64 KiB are kept.
struct Outcome {
    int status = 0;        // exit status, or 128 + the signal that ended it
    bool stopped = false;  // `go_on` said no
    std::string output, errors;

    /// The first line of standard error, or what the status means: one line for a message.
    std::string complaint() const;
};

/// Runs words[0], found in PATH, with the other words as arguments; standard input is empty. Standard output goes
/// to the file `output` (replaced) unless that is empty. Whatever is thrown meanwhile, no child stays behind.
/// Throws: Error if there is no such program, it cannot be started, or `output` cannot be written.
Outcome run_program(const std::vector<std::string>& words, const GoOn& go_on = {},
                    const std::filesystem::path& output = {});

}  // namespace vkf
