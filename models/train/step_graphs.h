// One update of a model described: what a Trainer records, and what `inspect` counts without running it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "models/scope.h"
#include "models/train/optimizer.h"
#include "ops/flatten.h"

namespace vkf {

class Device;

struct TrainerConfig {
    std::int64_t gradient_accumulation_steps = 1;
    float dropout = 0.0f;
    float drop_path = 0.0f;
    bool drop_path_ramp = false;
    Format activations = Format::f32;  // what Graph::activations says
    Format frozen = Format::f32;       // what frozen weights are kept in where products alone read them
    bool half_factors = false;         // what Graph::half_factors says
    LossScaling loss_scaling;          // where gradients are scaled
    bool recompute = false;  // values inside blocks are not kept for the backward pass: less memory, a third more work
    std::int64_t bucket_bytes = std::numeric_limits<std::int64_t>::max();  // the most that gradients fill together
    OptimizerConfig optimizer;
    std::uint64_t seed = 1337;

    bool has_dropout() const { return dropout > 0 || drop_path > 0; }
    /// fp16 holds nothing below 6e-8 and nothing from 65520 up: gradients go through it times a scale that follows
    /// them.
    bool scales_loss() const { return activations == Format::f16; }
};

/// Describes the loss of a micro-batch, a scalar; declares the inputs that a micro-batch is written to, and whatever
/// outputs are wanted of an evaluation.
using LossGraph = std::function<Tensor(const Scope&)>;

/// The same with what the device makes advisable: factors of products in 16 bits where it multiplies such, buckets that
/// fit into its buffers.
TrainerConfig with_device_defaults(TrainerConfig config, const Device& device);

/// Gradients that lie in one run of memory, in the order of the parameters.
struct GradientBucket {
    std::vector<std::string> names;  // of the parameters
    FlatLayout layout;
};

/// Keeps the frozen parameters of a graph that is described in `format`, where products alone read them.
void narrow_frozen(Graph& graph, const Parameters& parameters, Format format);

/// The state that a bucket is summed in over micro-batches, where there is more than one.
std::string gradient_sums(std::size_t bucket);

/// Gradients are made in buckets, as few as TrainerConfig::bucket_bytes allows, one as a rule. With one micro-batch
/// `step` is all: forward, backward, update. With more it adds each micro-batch's buckets to states, and `update` moves
/// the parameters by their mean. Either way the graph that updates has its hook (Graph::hook) at the whole gradients,
/// the buckets in order, before anything is made of them.
///
/// Inputs: the loss's own; "seed", i32[2], if the config has dropout; "rates" of step_rates. Outputs: "loss" and
/// "grad_norm", and "grad_norm_z_score" if outliers are skipped. If the config scales the loss, all gradients before
/// the update are larger by the first number of the state "loss_scale", which changes in the update only.
struct StepGraphs {
    Parameters parameters;
    std::vector<GradientBucket> buckets;
    Graph step;
    std::optional<Graph> update;
    std::int64_t micro_batches;

    /// Passes over the graphs run when a Program is made of them.
    StepGraphs(const LossGraph& loss, const TrainerConfig& config);
    StepGraphs(const StepGraphs&) = delete;
};

}  // namespace vkf
