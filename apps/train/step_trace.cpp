#include "apps/train/step_trace.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

constexpr int HOST = 1, DEVICE = 2;  // processes of the timeline

/// An event that lasts from `start` to `end`, in microseconds.
ordered_json event(int process, std::string_view name, double start, double end) {
    return {{"name", name}, {"ph", "X"}, {"pid", process}, {"tid", 1}, {"ts", start}, {"dur", end - start}};
}

ordered_json process_name(int process, std::string_view name) {
    return {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}};
}

}  // namespace

double StepTrace::microseconds(TracedRun::Clock::time_point at) const {
    return std::chrono::duration<double, std::micro>(at - zero_).count();
}

void StepTrace::add(std::int64_t step, const TracedRun& run) {
    if (events_.empty()) zero_ = run.began;
    const double began = microseconds(run.began), submitting = microseconds(run.submitting),
                 waiting = microseconds(run.waiting), ended = microseconds(run.ended);
    events_.push_back(event(HOST, text("step ", step), began, ended));
    if (submitting > began) events_.push_back(event(HOST, "read batch", began, submitting));
    if (waiting > submitting) events_.push_back(event(HOST, "submit", submitting, waiting));
    events_.push_back(event(HOST, "wait for device", waiting, ended));

    const std::vector<NodeTime> nodes = run.program.node_times();
    double at = ended;
    for (const NodeTime& node : nodes) at -= node.ms * 1e3;
    for (const NodeTime& node : nodes) {
        ordered_json made = event(DEVICE, node.op, at, at + node.ms * 1e3);
        made["args"] = {{"scope", node.scope}, {"kernel", node.kernel}, {"flops", node.flops}, {"bytes", node.bytes}};
        events_.push_back(std::move(made));
        at += node.ms * 1e3;
    }
}

ordered_json StepTrace::document() const {
    ordered_json all{process_name(HOST, "host"), process_name(DEVICE, device_)};
    for (const ordered_json& one : events_) all.push_back(one);
    return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(all)}};
}

}  // namespace vkf
