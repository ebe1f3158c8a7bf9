#include "base/os/subprocess.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/os/child_process.h"

namespace vkf {
namespace {

constexpr std::size_t MOST_KEPT = 64 * 1024;
constexpr std::chrono::seconds PATIENCE{3};  // between asking a program to end and ending it

void keep_beginning(std::string& kept) {
    kept.resize(std::min(kept.size(), MOST_KEPT));
}

}  // namespace

Outcome run_program(const std::vector<std::string>& words, const GoOn& go_on, const std::filesystem::path& output) {
    require(!words.empty() && !words[0].empty(), "run_program: no program is named");
    ChildProcess child(words, output);
    Outcome outcome;
    std::chrono::steady_clock::time_point asked;
    for (bool quiet = false;;) {
        // Programs that the child started may keep the pipes open after it ends: then silence is the end.
        const bool open = child.open();
        if (child.ended() && (!open || quiet)) break;
        quiet = !child.read(outcome.output, outcome.errors, std::chrono::milliseconds(open ? 100 : 5));
        keep_beginning(outcome.output);
        keep_beginning(outcome.errors);
        const auto now = std::chrono::steady_clock::now();
        if (outcome.stopped && now - asked > PATIENCE) child.kill();
        if (outcome.stopped || !go_on || go_on()) continue;
        outcome.stopped = true;
        asked = now;
        child.interrupt();
    }
    // Ctrl-C in a terminal also reaches the child, and perhaps first.
    outcome.stopped = outcome.stopped || (go_on && !go_on());
    outcome.status = child.status();
    return outcome;
}

std::string Outcome::complaint() const {
    const std::size_t first = errors.find_first_not_of("\r\n");
    if (first != std::string::npos) return errors.substr(first, errors.find_first_of("\r\n", first) - first);
    return status_text(status);
}

}  // namespace vkf
