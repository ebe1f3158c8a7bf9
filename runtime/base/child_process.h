// A program that we have started: what stands behind base/subprocess.h, on POSIX and on Windows.
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

    /// Waits for the program to write something, at most so long, and appends a portion of it to what is given. False
    /// if nothing came.
    bool read(std::string& output, std::string& errors, std::chrono::milliseconds most);
    /// Whether it, or a program that it started, may still write.
    bool open() const;
    bool ended();
    /// Once it has ended: its exit status, or 128 + the signal that ended it.
    int status() const;
    /// Asks it to end, or ends it.
    void interrupt();
    void kill();

private:
    struct Handles;  // the system's
    std::unique_ptr<Handles> handles_;
};

/// "exit status 1", "ended by signal 9 (Killed)".
std::string status_text(int status);

}  // namespace vkf
