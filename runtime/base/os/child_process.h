// Child processes on POSIX and Windows, the base of base/os/subprocess.h.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace vkf {

/// A running program, which does not outlive this object. Its standard input is empty.
class ChildProcess {
public:
    /// Starts words[0], found in PATH, with the other words as arguments. Standard output goes to the file `output`
    /// (replaced) unless that is empty.
    /// Throws: Error if there is no such program, it cannot be started, or `output` cannot be written.
    explicit ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& output = {});
    ~ChildProcess();

    /// Waits for output of the program, at most `most`, and appends a portion of it to `output` and `errors`. False if
    /// there was none.
    bool read(std::string& output, std::string& errors, std::chrono::milliseconds most);
    /// True if the program, or one that it started, may still write.
    bool open() const;
    bool ended();
    /// Exit status of the ended program, or 128 + the signal that ended it.
    int status() const;
    /// interrupt() asks the program to end, kill() ends it.
    void interrupt();
    void kill();

private:
    struct Handles;  // of the system
    std::unique_ptr<Handles> handles_;
};

/// Words that start the running program once more, to be followed by arguments: its path, after the dynamic loader and
/// the loader's options if the program was started by that. Throws Error if the system does not tell them.
std::vector<std::string> program_words();

/// "exit status 1", "ended by signal 9 (Killed)".
std::string status_text(int status);

}  // namespace vkf
