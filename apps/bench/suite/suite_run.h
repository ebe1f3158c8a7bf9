// Making the measurements of a suite's plan within a time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "apps/bench/suite/suite_plan.h"

namespace vkf {

/// The time that is left for a suite, and predictions of how long measurements take on this device. A prediction takes
/// a family and precision to be as slow as its slowest measurement was, relative to the shortest time of the work.
class SuiteBudget {
public:
    SuiteBudget(double seconds, double each) : seconds_(seconds), each_(each) {}

    /// Seconds of each measurement's samples, if its repetitions are short.
    double each() const { return each_; }
    double left(double now) const { return seconds_ - now; }
    /// Seconds that a measurement will probably take.
    double needed(const LeftOut& what, double least_seconds) const;
    /// Learns from a measurement that took `spent` seconds, of which a repetition took `repetition`.
    void learn(const LeftOut& what, double least_seconds, double repetition, double spent);

private:
    struct Experience {
        double slowness = 5;     // of a repetition beside its shortest time
        double preparation = 1;  // seconds
    };

    /// The slowest of all families, for one that is not known yet.
    Experience slowest() const;

    double seconds_, each_;
    std::map<std::string, Experience> known_;  // by family and precision
};

/// Called before each measurement with the number of those that are done or left out, the seconds left and its name.
using SuiteProgress = std::function<void(std::size_t done, double left, const std::string& name)>;

/// Makes the measurements that fit the device's memory and the time in `seconds`, and adds them to the report; the
/// others are listed as left out, with reasons. Throws Interrupted after Ctrl-C, and Error as the device does.
void run_suite(Device& device, std::span<const SuiteItem> plan, double seconds, BenchReport& report,
               const SuiteProgress& progress);

}  // namespace vkf
