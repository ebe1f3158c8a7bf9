#include "apps/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "apps/cli/terminal.h"
#include "base/os/os.h"
#include "base/text/plain_text.h"

namespace vkf {

namespace {

constexpr std::chrono::duration<double> TERMINAL_PAUSE{0.1};
constexpr std::chrono::duration<double> PLAIN_PAUSE{5.0};

std::string rate_text(double rate) {
    return fixed(rate, rate < 10 ? 2 : rate < 1000 ? 1 : 0);
}

}  // namespace

std::string duration_text(double seconds) {
    const auto whole = static_cast<long long>(std::ceil(std::clamp(seconds, 0.0, 1e9)));
    char digits[32];
    if (whole < 3600)
        std::snprintf(digits, sizeof digits, "%lld:%02lld", whole / 60, whole % 60);
    else
        std::snprintf(digits, sizeof digits, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
    return digits;
}

Progress::Progress(const Common& common, std::string title, std::string unit, std::int64_t total, std::int64_t from)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      from_(from),
      quiet_(common.quiet),
      terminal_(rewrites_lines(os::STANDARD_ERROR)),
      start_(Clock::now()),
      last_(start_) {}

std::string Progress::status(std::int64_t done, std::string_view detail) const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double rate = static_cast<double>(done - from_) / std::max(seconds, 1e-9);
    std::string line = text(title_, ": ", done);
    if (total_ > 0) line += text('/', total_);
    line += text(' ', unit_, ", ", rate_text(rate), ' ', unit_, "/s");
    if (total_ > done && rate > 0) line += ", " + duration_text(static_cast<double>(total_ - done) / rate) + " left";
    if (!detail.empty()) line += text(", ", detail);
    return line;
}

void Progress::update(std::int64_t done, std::string_view detail) {
    const Clock::time_point now = Clock::now();
    if (quiet_ || now - last_ < (terminal_ ? TERMINAL_PAUSE : PLAIN_PAUSE)) return;
    last_ = now;
    const std::string whole = plain_line(status(done, detail));
    if (!terminal_) return tell(whole);
    // A line that wraps could not be rewritten. The last column stays empty, because terminals differ there.
    const std::string_view line = cut_to_columns(whole, terminal_columns(os::STANDARD_ERROR) - 1);
    std::fprintf(stderr, "\r%.*s\x1b[K", static_cast<int>(line.size()), line.data());
    std::fflush(stderr);
    shown_ = true;
}

void Progress::line(std::string_view text) {
    if (quiet_) return;
    clear();
    tell(text);
}

void Progress::clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
}

}  // namespace vkf
