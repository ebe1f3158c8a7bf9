#include "models/train/step_graphs.h"

#include <string>
#include <vector>

#include "graph/narrow.h"
#include "ops/backward.h"
#include "ops/ops.h"

namespace vkf {

namespace {

/// Makes the loss an output; returns the gradient of every parameter.
std::vector<Tensor> append_gradients(Graph& graph, Parameters& parameters, const LossGraph& loss_graph,
                                     const TrainerConfig& config) {
    Noise noise{config.dropout, config.drop_path, {}};
    if (config.noisy()) noise.seed = graph.input("seed", {DType::i32, {2}});
    const Tensor loss = loss_graph(Scope(graph, parameters, noise));
    graph.output("loss", loss);
    std::vector<Tensor> list;
    for (const Parameter& parameter : parameters.list()) list.push_back(parameter.tensor);
    return gradients(loss, list, {.recompute = config.recompute});
}

void append_norm_and_update(Graph& graph, const Parameters& parameters, std::span<const Tensor> gradients,
                            const OptimizerConfig& optimizer) {
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    graph.output("grad_norm", append_update(parameters.list(), gradients, rates, optimizer));
}

/// The states that micro-batches' gradients are summed in.
std::vector<Tensor> gradient_sums(Graph& graph, const Parameters& parameters) {
    std::vector<Tensor> sums;
    for (const Parameter& p : parameters.list())
        sums.push_back(graph.state("gradient/" + p.name, {DType::f32, p.shape}));
    return sums;
}

}  // namespace

StepGraphs::StepGraphs(const LossGraph& loss, const TrainerConfig& config)
    : micro_batches(config.gradient_accumulation_steps) {
    const std::vector<Tensor> d = append_gradients(step, parameters, loss, config);
    if (micro_batches == 1) {
        append_norm_and_update(step, parameters, d, config.optimizer);
    } else {
        step.scope = "accumulate";
        add_into(gradient_sums(step, parameters), d, 1.0f / static_cast<float>(micro_batches));
        update.emplace();
        const std::vector<Tensor> means = gradient_sums(*update, parameters);
        append_norm_and_update(*update, parameters, means, config.optimizer);
        zero(means);
    }
    narrow(step, config.activations);
}

}  // namespace vkf
