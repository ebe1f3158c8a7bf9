// Report of `inspect` on a model: parameters and work part by part, memory, and on request formulas, the largest sizes
// that fit, the plan, types or graph.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/cli/common.h"
#include "apps/inspect/analysis.h"
#include "apps/inspect/inspect_fit.h"
#include "apps/inspect/inspected_model.h"

namespace vkf {

/// Parts of the report that are shown on request.
struct InspectView {
    bool by_op = false, plan = false, types = false, graph = false, explain = false, fit = false;
    std::int64_t top = 20;
    std::optional<std::int64_t> memory;  // bytes that --fit has
};

/// Prints the report, or with --json the document. Nothing runs: graphs are made, planned and lowered for a device with
/// these traits. `room` is the memory that --fit has.
void report_inspection(const Common& common, const InspectView& view, const InspectedModel& model,
                       const TraitsFor& traits_for, const Room& room);

}  // namespace vkf
