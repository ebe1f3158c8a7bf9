// Measured speed of a program's runs, which decides how much of a run is submitted at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace vkf {

/// Drivers end work that runs for seconds, so a program is cut into segments by the times that a model of the device
/// expects. These are far too long for a fast device, and each submission costs time. The first run therefore submits
/// segment by segment; later runs join as many segments as took `longest_ms` together in the fastest run so far.
class Pace {
public:
    using Clock = std::chrono::steady_clock;

    explicit Pace(double longest_ms) : longest_ms_(longest_ms) {}

    /// Number of segments to submit at a time.
    std::size_t joined() const { return joined_; }

    /// Notes that a run of `segments` segments ended within `time`. A run that ended earlier, or waited for another
    /// run, counts as slower than it was, which is safe.
    void ran(std::size_t segments, Clock::duration time) {
        const double ms = std::max(std::chrono::duration<double, std::milli>(time).count(), 1e-3);
        const double fit = std::min(longest_ms_ / ms, 1.0) * static_cast<double>(segments);
        joined_ = std::max(joined_, static_cast<std::size_t>(fit));
    }

private:
    double longest_ms_;
    std::size_t joined_ = 1;
};

}  // namespace vkf
