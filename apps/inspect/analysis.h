// Cost of a graph before anything is allocated: work per node, memory, lifetimes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/plan.h"
#include "models/config/model_config.h"
#include "models/train/step_graphs.h"

namespace vkf {

struct NodeCost {
    std::string part;  // "h.*.attn": the node's scope with numbers left out, at most three levels
    std::string op;
    double flops = 0;
    double bytes = 0;
    std::int64_t dispatches = 0;
    std::int64_t phases = 0;   // phases that its dispatches begin, each with a barrier
    std::int64_t touched = 0;  // bytes of all memory that its dispatches are given, once per dispatch
};

/// A transient tensor in the arena.
struct Resident {
    std::string scope, op;  // scope and op of the node that makes the tensor
    Shape shape;
    std::int64_t bytes = 0;
    std::int64_t offset = 0;
    std::size_t first = 0, last = 0;  // first and last node, both included
    Format format = Format::f32;
    std::string why_f32;  // reason, if activations are in 16 bits and this tensor is not
};

struct Analysis {
    std::vector<NodeCost> costs;      // one per node that runs, in order
    std::vector<Resident> residents;  // largest first
    std::int64_t dispatches = 0, phases = 0;
    double flops = 0;
    std::int64_t arena = 0,
                 bound = 0;  // bytes; no arrangement of the arena is smaller than `bound`
    std::int64_t states = 0, constants = 0, inputs = 0, outputs = 0, tables = 0;
    std::int64_t gradients = 0;  // of all parameters: in the arena, and their sums over micro-batches among the states
    std::int64_t largest = 0;    // bytes of the largest tensor that has memory of its own
    std::size_t loss_node = 0;   // node that makes the output "loss", if there is one

    /// Bytes that kernels read and write.
    double traffic() const;
    std::int64_t bytes() const { return arena + states + constants + inputs + outputs + tables; }
};

/// Traits of the device that a graph is lowered for.
using TraitsFor = std::function<DeviceTraits(const Graph&)>;

/// Runs the passes, lowers and plans as Program does, for a device with these traits.
Analysis analyse(Graph& graph, const DeviceTraits& device);
/// Analyses one update as Trainer runs it: the work of all its micro-batches; memory that its graphs share is counted
/// once.
Analysis analyse(StepGraphs& graphs, const DeviceTraits& device);
/// Analyses a training run: an update, and the memory of an evaluation, which shares the update's arena and states.
Analysis analyse_run(const LossGraph& loss, const LossGraph& evaluation, const TrainerConfig& config,
                     const TraitsFor& traits_for);
/// Analyses programs that exist together and share states and constants: the work and memory of all.
Analysis analyse_together(std::span<const std::function<void(const Scope&)>> programs, Format activations,
                          const TraitsFor& traits_for);
/// Analyses reading the last `length` tokens of each of `rows` texts of `positions` tokens into their caches. Counts
/// the pairs of query and key that the mask allows; the cache is as long as the text.
Analysis analyse_reading(const ModelConfig& config, Format activations, std::int64_t length, std::int64_t positions,
                         const DeviceTraits& device, std::int64_t rows = 1);

/// "h.3.attn.c_attn" → "h.*.attn".
std::string part_of(const std::string& path);

}  // namespace vkf
