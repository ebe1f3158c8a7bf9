// Progress of a loop, shown on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/cli/common.h"

namespace vkf {

/// "eval: 12/200 batches, 3.4 batches/s, 0:55 left, loss 2.31": one line that is rewritten when
/// standard error is a terminal, cut to its width, otherwise a plain line every few seconds. Silent with --quiet.
class Progress {
public:
    /// Counts `unit`s up to `total` (0: unknown); `from` of them were done before.
    Progress(const Common& common, std::string title, std::string unit, std::int64_t total, std::int64_t from = 0);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }

    /// Shows that `done` units are done; `detail` follows the rate and the time left.
    void update(std::int64_t done, std::string_view detail = {});
    /// Prints a line that stays.
    void line(std::string_view text);
    /// Removes the rewritten line from the terminal, so that other text can be printed.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    std::string status(std::int64_t done, std::string_view detail) const;

    std::string title_, unit_;
    std::int64_t total_, from_;
    bool quiet_, terminal_;
    bool shown_ = false;  // true while a line to be rewritten is on the terminal
    Clock::time_point start_, last_;
};

/// 7 → "0:07", 4000 → "1:06:40".
std::string duration_text(double seconds);

}  // namespace vkf
