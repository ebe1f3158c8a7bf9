#include "models/train/optimizer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/optimizer/loss_scale.h"
#include "ops/optimizer/moving_average.h"
#include "ops/optimizer/optimize.h"
#include "ops/optimizer/optimizers.h"
#include "ops/optimizer/outlier.h"

namespace vkf {

namespace {

constexpr const char* last_norms = "grad_norms";
constexpr std::array<std::string_view, 3> optimizer_names{"adamw", "setadam", "sgd"};

/// Prefixes of the states of the optimiser's moments.
std::vector<std::string> prefixes(const OptimizerConfig& config) {
    if (config.kind != OptimizerKind::sgd) return {"m/", "v/"};
    return config.momentum == 0.0 ? std::vector<std::string>{} : std::vector<std::string>{"m/"};
}

/// Appends the optimiser's op; returns the new parameters.
std::vector<Tensor> step(std::span<const Slot> slots, Tensor rates, Tensor clip, const OptimizerConfig& config) {
    const AdamOptions adam{config.beta1, config.beta2, config.eps};
    switch (config.kind) {
        case OptimizerKind::adamw:
            return adamw(slots, rates, clip, adam);
        case OptimizerKind::setadam:
            return setadam(slots, rates, clip, adam);
        case OptimizerKind::sgd:
            return sgd(slots, rates, clip, {.momentum = static_cast<float>(config.momentum)});
    }
    return {};
}

}  // namespace

OptimizerKind optimizer_named(std::string_view name) {
    for (std::size_t i = 0; i < optimizer_names.size(); ++i)
        if (optimizer_names[i] == name) return static_cast<OptimizerKind>(i);
    throw InputError("unknown optimizer '", name, "'; there are: adamw, setadam, sgd");
}

std::string_view name_of(OptimizerKind kind) {
    return optimizer_names[static_cast<std::size_t>(kind)];
}

std::vector<std::string> update_states(std::span<const Parameter> parameters, const OptimizerConfig& config) {
    std::vector<std::string> list, kept = prefixes(config);
    if (config.ema_decay > 0) kept.push_back(text(ema_prefix, "/"));
    for (const std::string& prefix : kept)
        for (const Parameter& parameter : parameters) list.push_back(prefix + parameter.name);
    if (config.skip_outliers > 0) list.emplace_back(last_norms);
    return list;
}

void require_known_decay(std::span<const Parameter> parameters, const OptimizerConfig& config) {
    for (const std::string& name : config.no_decay)
        require(std::ranges::find(parameters, name, &Parameter::name) != parameters.end(), "--no-decay names '", name,
                "', but the model has no such parameter: wanted names as in model.safetensors, for example ",
                parameters.front().name);
}

Tensor loss_scale_state(Graph& graph) {
    return graph.state("loss_scale", {DType::f32, {2}});
}

AppendedUpdate append_update(std::span<const Parameter> parameters, std::span<const Tensor> gradients, Tensor rates,
                             const OptimizerConfig& config, const std::optional<LossScaling>& scaling) {
    Graph& graph = rates.graph();
    graph.scope = "optimizer";
    const auto limit = static_cast<float>(config.grad_clip);
    GlobalNorm norm = global_norm(gradients, scaling ? 0.0f : limit);
    if (scaling) {
        const Unscaled unscaled =
            unscale(norm.norm, loss_scale_state(graph), {.limit = limit, .growth_interval = scaling->growth_interval});
        norm = {unscaled.norm, unscaled.clip};
    }
    AppendedUpdate update{norm.norm, {}};
    if (config.skip_outliers > 0) {
        const OutlierCheck check =
            skip_outliers(norm.norm, norm.clip, graph.state(last_norms, {DType::f32, {1 + outlier_window}}),
                          static_cast<float>(config.skip_outliers));
        norm.clip = check.clip;
        update.norm_z_score = check.z_score;
    }
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Parameter& parameter = parameters[i];
        const bool decays = (config.decay_all || parameter.shape.rank() >= 2) &&
                            std::ranges::find(config.no_decay, parameter.name) == config.no_decay.end();
        Slot slot{graph.state(parameter.name, {DType::f32, parameter.shape}),
                  gradients[i],
                  {},
                  {},
                  decays ? static_cast<float>(config.weight_decay) : 0.0f};
        const std::vector<std::string> kept = prefixes(config);
        const auto moment = [&](std::size_t k) {
            return kept.size() > k ? graph.state(kept[k] + parameter.name, {DType::f32, parameter.shape}) : Tensor();
        };
        slot.m = moment(0);
        slot.v = moment(1);
        slots.push_back(slot);
    }
    const std::vector<Tensor> stepped = step(slots, rates, norm.clip, config);
    if (config.ema_decay > 0) {
        std::vector<Tensor> kept;
        for (const Parameter& p : parameters)
            kept.push_back(graph.state(text(ema_prefix, "/", p.name), {DType::f32, p.shape}));
        moving_average(kept, stepped, norm.clip, config.ema_decay);
    }
    return update;
}

}  // namespace vkf
