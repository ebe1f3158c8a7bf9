#include "models/train/step_graphs.h"

#include <optional>
#include <string>
#include <vector>

#include "ops/arithmetic.h"
#include "ops/backward.h"
#include "ops/cast.h"
#include "ops/optimize.h"
#include "ops/view.h"
#include "program/program.h"

namespace vkf {

namespace {

/// The scale itself, [], as it is now.
Tensor loss_scale_of(Graph& graph) {
    return reshape(slice(loss_scale_state(graph), 0, 0, 1), {});
}

/// Makes the loss an output; returns the gradient of every parameter.
std::vector<Tensor> append_gradients(Graph& graph, Parameters& parameters, const LossGraph& loss_graph,
                                     const TrainerConfig& config) {
    Noise noise{config.dropout, config.drop_path, {}, config.drop_path_ramp};
    if (config.noisy()) noise.seed = graph.input("seed", {DType::i32, {2}});
    Tensor d_loss;
    if (config.scales_loss()) d_loss = loss_scale_of(graph);
    const Tensor loss = loss_graph(Scope(graph, parameters, noise, d_loss));
    graph.output("loss", loss);
    std::vector<Tensor> list;
    for (const Parameter& parameter : parameters.list()) list.push_back(parameter.tensor);
    const GradientOptions options{.recompute = config.recompute};
    return d_loss ? gradients(std::span(&loss, 1), std::span(&d_loss, 1), list, options)
                  : gradients(loss, list, options);
}

void append_optimizer(Graph& graph, const Parameters& parameters, std::span<const Tensor> gradients,
                      const TrainerConfig& config) {
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    const std::optional scaling = config.scales_loss() ? std::optional(config.loss_scaling) : std::nullopt;
    graph.output("grad_norm", append_update(parameters.list(), gradients, rates, config.optimizer, scaling));
    if (scaling) graph.output("loss_scale", scale(loss_scale_of(graph), 1.0f));
}

/// The states that micro-batches' gradients are summed in.
std::vector<Tensor> gradient_sums(Graph& graph, const Parameters& parameters) {
    std::vector<Tensor> sums;
    for (const Parameter& p : parameters.list())
        sums.push_back(graph.state(gradient_sum(p.name), {DType::f32, p.shape}));
    return sums;
}

}  // namespace

std::string gradient_sum(const std::string& parameter) {
    return "gradient/" + parameter;
}

TrainerConfig suited(TrainerConfig config, const Device& device) {
    Graph step;
    step.activations = config.activations;
    step.differentiated = true;
    const DeviceTraits of = traits(device, step);
    config.cast_weights = config.cast_weights || (!of.cpu && (of.matrices || of.workgroup_matrices > 0));
    return config;
}

StepGraphs::StepGraphs(const LossGraph& loss, const TrainerConfig& config)
    : micro_batches(config.gradient_accumulation_steps) {
    step.activations = config.activations;
    const std::vector<Tensor> d = append_gradients(step, parameters, loss, config);
    if (config.cast_weights) cast_weights(step);
    if (micro_batches == 1) {
        append_optimizer(step, parameters, d, config);
    } else {
        step.scope = "accumulate";
        vkf::accumulate(gradient_sums(step, parameters), d, 1.0f / static_cast<float>(micro_batches));
        update.emplace();
        update->activations = config.activations;
        const std::vector<Tensor> means = gradient_sums(*update, parameters);
        append_optimizer(*update, parameters, means, config);
        zero(means);
    }
}

}  // namespace vkf
