// Graphs of one update of a model, which a Trainer records and `inspect` counts without running them.
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
#include "ops/movement/flatten.h"

namespace vkf {

class Device;

struct TrainerConfig {
    std::int64_t gradient_accumulation_steps = 1;
    float dropout = 0.0f;
    float drop_path = 0.0f;
    bool drop_path_ramp = false;
    Format activations = Format::f32;  // value of Graph::activations
    bool evaluate_f32 = false;         // evaluations keep activations in fp32, also beside others in training
    Format frozen = Format::f32;       // format of frozen weights that only products read
    bool half_factors = false;         // value of Graph::half_factors
    LossScaling loss_scaling;          // used if gradients are scaled
    bool recompute = false;  // values inside blocks are not kept for the backward pass: less memory, a third more work
    std::int64_t bucket_bytes = std::numeric_limits<std::int64_t>::max();  // limit of a bucket
    OptimizerConfig optimizer;
    std::uint64_t seed = 1337;

    /// Graph::activations of evaluations.
    Format evaluated_activations() const { return evaluate_f32 ? Format::f32 : activations; }
    bool has_dropout() const { return dropout > 0 || drop_path > 0; }
    /// fp16 has no numbers below 6e-8 and none from 65520 up: gradients in fp16 are multiplied by a scale that adapts
    /// to them.
    bool scales_loss() const { return activations == Format::f16; }
};

/// Describes the loss of a micro-batch, a scalar; declares the inputs to which a micro-batch is written, and the
/// outputs of an evaluation.
using LossGraph = std::function<Tensor(const Scope&)>;

/// Returns the config with the device's defaults: 16-bit factors of products if the device has instructions for them,
/// buckets that fit into its buffers.
TrainerConfig with_device_defaults(TrainerConfig config, const Device& device);

/// Gradients in one contiguous piece of memory, in the order of the parameters.
struct GradientBucket {
    std::vector<std::string> names;  // names of the parameters
    FlatLayout layout;
};

/// Keeps frozen parameters of a completely described graph in `format`, if only products read them.
void narrow_frozen(Graph& graph, const Parameters& parameters, Format format);

/// Name of the state in which a bucket is summed over micro-batches, if there are several.
std::string gradient_sums(std::size_t bucket);

/// Gradients are computed in buckets, as few as TrainerConfig::bucket_bytes allows, usually one. With one micro-batch
/// `step` does all: forward, backward, update. With several, `step` adds each micro-batch's buckets to states, and
/// `update` updates the parameters by their mean. In both cases the graph that updates has its hook (Graph::hook) at
/// the whole gradients, the buckets in order, before any op reads them.
///
/// Inputs: those of the loss; "seed", i32[2], if the config has dropout; "rates" of step_rates. Outputs: "loss" and
/// "grad_norm", and "grad_norm_z_score" if outliers are skipped. If the config scales the loss, all gradients before
/// the update are multiplied by the first number of the state "loss_scale", which changes only in the update.
struct StepGraphs {
    Parameters parameters;
    std::vector<GradientBucket> buckets;
    Graph step;
    std::optional<Graph> update;
    std::int64_t micro_batches;

    /// Passes over the graphs run when a Program is made from them.
    StepGraphs(const LossGraph& loss, const TrainerConfig& config);
    StepGraphs(const StepGraphs&) = delete;
};

}  // namespace vkf
