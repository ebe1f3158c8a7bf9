// How fast a program's runs turn out to be, and so how much of one may be submitted at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace vkf {

/// Drivers end what runs for seconds, so a program is cut into segments by what a model of the device expects of them.
/// That is far too long on a fast device, and each submission costs. The first run therefore submits segment by
/// segment; later ones join as many as lasted `longest_ms` together in the quickest run so far.
class Pace {
public:
    using Clock = std::chrono::steady_clock;

    explicit Pace(double longest_ms) : longest_ms_(longest_ms) {}

    /// How many segments to submit at a time.
    std::size_t joined() const { return joined_; }

    /// A run of so many segments was over by then. It may have been over before, or have waited for another: then it
    /// counts as slower than it was, which is safe.
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
