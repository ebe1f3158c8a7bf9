// Report of `inspect` on a model: parameters and work part by part, memory, and on request the plan, types or graph.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/cli/common.h"
#include "models/train/step_graphs.h"

namespace vkf {

/// Parts of the report that are shown on request.
struct InspectView {
    bool by_op = false, plan = false, types = false, graph = false;
    std::int64_t top = 20;
};

/// A model for either kind of task: functions that make its graphs, and the unit of its work.
struct InspectedModel {
    std::string config_text, train_toml;  // train_toml: only of a training command
    TrainerConfig trainer;
    std::int64_t batch_size = 0;
    std::function<Tensor(const Scope&)> logits, loss;  // including their inputs
    const char* item = "token";
    double items = 0;   // items per micro-batch
    std::string batch;  // description for people
    double cache = 0;   // bytes of keys and values of one sequence
    std::int64_t block_size = 0;

    double items_in_step() const { return items * static_cast<double>(trainer.gradient_accumulation_steps); }
};

/// Traits of the device that a graph is lowered for.
using TraitsFor = std::function<DeviceTraits(const Graph&)>;

/// Prints the report, or with --json the document. Nothing runs: graphs are made, planned and lowered for a device with
/// these traits.
void report_inspection(const Common& common, const InspectView& view, const InspectedModel& model,
                       const TraitsFor& traits_for);

}  // namespace vkf
