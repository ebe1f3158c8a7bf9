// Timeline of training steps, in the Trace Event Format that Perfetto and Chrome's about:tracing read.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "models/train/trainer.h"

namespace vkf {

/// Collects what the host and the device did in each run of a program.
class StepTrace {
public:
    explicit StepTrace(std::string device) : device_(std::move(device)) {}

    /// Adds a run of the update with this number: the host reads a batch, submits and waits; the device runs the
    /// program's nodes one after the other. The device's clock is another one: its last node is taken to end when the
    /// host's wait ends.
    void add(std::int64_t step, const TracedRun& run);

    /// An object of Trace Event Format: complete events in microseconds since the first run, one process for the host
    /// and one for the device, with scope, kernel, FLOPs and bytes of each node.
    nlohmann::ordered_json document() const;

    std::size_t events() const { return events_.size(); }

private:
    double microseconds(TracedRun::Clock::time_point at) const;

    std::string device_;
    nlohmann::ordered_json events_ = nlohmann::ordered_json::array();
    TracedRun::Clock::time_point zero_ = {};
};

}  // namespace vkf
