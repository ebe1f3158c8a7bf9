#include "models/train/step_graphs.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/cast.h"
#include "ops/movement/view.h"
#include "ops/optimizer/optimize.h"
#include "program/program.h"

namespace vkf {

namespace {

/// Present loss scale, [].
Tensor loss_scale_of(Graph& graph) {
    return reshape(slice(loss_scale_state(graph), 0, 0, 1), {});
}

/// Makes the loss an output; returns the gradient of every parameter.
std::vector<Tensor> append_gradients(Graph& graph, Parameters& parameters, const LossGraph& loss_graph,
                                     const TrainerConfig& config) {
    DropoutState dropout{config.dropout, config.drop_path, {}, config.drop_path_ramp};
    if (config.has_dropout()) dropout.seed = graph.input("seed", {DType::i32, {2}});
    Tensor d_loss;
    if (config.scales_loss()) d_loss = loss_scale_of(graph);
    const Tensor loss = loss_graph(Scope(graph, parameters, dropout, d_loss));
    graph.output("loss", loss);
    std::vector<Tensor> list;
    for (const Parameter& parameter : parameters.trained()) list.push_back(parameter.tensor);
    const GradientOptions options{.recompute = config.recompute};
    return d_loss ? gradients(std::span(&loss, 1), std::span(&d_loss, 1), list, options)
                  : gradients(loss, list, options);
}

std::vector<GradientBucket> buckets_of(std::span<const Parameter> parameters, std::int64_t most_bytes) {
    std::vector<GradientBucket> buckets;
    for (const Parameter& p : parameters) {
        if (buckets.empty() || bytes_of(buckets.back().layout.elements_with(p.shape), Format::f32) > most_bytes)
            buckets.emplace_back();
        buckets.back().names.push_back(p.name);
        buckets.back().layout.append(p.shape);
    }
    return buckets;
}

std::vector<Tensor> flatten(std::span<const Tensor> gradients, std::span<const GradientBucket> buckets) {
    std::vector<Tensor> flat;
    for (const GradientBucket& bucket : buckets) {
        flat.push_back(flatten(gradients.first(bucket.names.size()), bucket.layout));
        gradients = gradients.subspan(bucket.names.size());
    }
    return flat;
}

std::vector<Tensor> unflatten(std::span<const Tensor> flat, std::span<const GradientBucket> buckets) {
    std::vector<Tensor> gradients;
    for (std::size_t k = 0; k < flat.size(); ++k)
        for (const Tensor& gradient : unflatten(flat[k], buckets[k].layout)) gradients.push_back(gradient);
    return gradients;
}

/// States in which gradients are summed over micro-batches.
std::vector<Tensor> sums(Graph& graph, std::span<const GradientBucket> buckets) {
    std::vector<Tensor> list;
    for (std::size_t k = 0; k < buckets.size(); ++k)
        list.push_back(graph.state(gradient_sums(k), {DType::f32, {buckets[k].layout.elements}}));
    return list;
}

void append_optimizer(Graph& graph, const Parameters& parameters, std::span<const Tensor> gradients,
                      const TrainerConfig& config) {
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    const std::optional scaling = config.scales_loss() ? std::optional(config.loss_scaling) : std::nullopt;
    const AppendedUpdate update = append_update(parameters.trained(), gradients, rates, config.optimizer, scaling);
    graph.output("grad_norm", update.norm);
    if (update.norm_z_score) graph.output("grad_norm_z_score", update.norm_z_score);
    if (scaling) graph.output("loss_scale", scale(loss_scale_of(graph), 1.0f));
}

}  // namespace

std::string gradient_sums(std::size_t bucket) {
    return text("gradients/", bucket);
}

void narrow_frozen(Graph& graph, const Parameters& parameters, Format format) {
    if (format == Format::f32) return;
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters.frozen()) names.push_back(parameter.name);
    narrow_states(graph, names, format);
}

TrainerConfig with_device_defaults(TrainerConfig config, const Device& device) {
    Graph step;
    step.activations = config.activations;
    step.differentiated = true;
    const DeviceTraits of = traits(device, step);
    config.half_factors = config.half_factors || of.rounds_factors();
    config.bucket_bytes = std::min(config.bucket_bytes, of.buffer_bytes);
    return config;
}

StepGraphs::StepGraphs(const LossGraph& loss, const TrainerConfig& config)
    : micro_batches(config.gradient_accumulation_steps) {
    step.activations = config.activations;
    step.half_factors = config.half_factors;
    const std::vector<Tensor> d = append_gradients(step, parameters, loss, config);
    require_known_decay(parameters.list(), config.optimizer);
    narrow_frozen(step, parameters, config.frozen);
    if (config.half_factors) cast_weights(step);
    buckets = buckets_of(parameters.trained(), config.bucket_bytes);
    step.scope = "gradients";
    std::vector<Tensor> flat = flatten(d, buckets);
    if (micro_batches > 1) {
        vkf::accumulate(sums(step, buckets), flat, 1.0f / static_cast<float>(micro_batches));
        update.emplace();
        update->activations = config.activations;
        flat = sums(*update, buckets);
    }
    Graph& last = update ? *update : step;
    last.hook(flat);
    append_optimizer(last, parameters, unflatten(flat, buckets), config);
    if (update) zero(flat);
}

}  // namespace vkf
