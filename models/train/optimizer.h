// Update of a training step: gradients are clipped, parameters and moments are changed in place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "models/scope.h"

namespace vkf {

enum class OptimizerKind : std::uint8_t { adamw, setadam, sgd };

/// Throws InputError listing the known names.
OptimizerKind optimizer_named(std::string_view name);
std::string_view name_of(OptimizerKind kind);

struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::adamw;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double eps = 1e-8;
    double momentum = 0.9;  // sgd only
    double weight_decay = 0.1;
    bool decay_all = false;                  // else only tensors of two or more dimensions decay, as in nanoGPT
    std::vector<std::string> no_decay = {};  // names of parameters that do not decay in either case
    double grad_clip = 1.0;                  // global norm; 0: none
    double skip_outliers = 0;                // z-score of the gradients' norm above which a step is skipped; 0: never
    double ema_decay = 0;                    // decay of the parameters' exponential moving averages; 0: no averages
};

/// Dynamic loss scaling, which gradients in fp16 need: see unscale(). The defaults are those of PyTorch's GradScaler.
struct LossScaling {
    float initial = 65536.0f;             // first scale; a power of two, so that scaling does not round
    std::int64_t growth_interval = 2000;  // successive finite steps after which the scale doubles
};

/// Statistics of an update's gradients.
struct AppendedUpdate {
    Tensor norm;          // [] global, before clipping
    Tensor norm_z_score;  // [] among the last norms; no tensor if outliers are not skipped
};

/// Appends the update of every parameter by its gradient. `rates` is the f32[4] input of step_rates. Moments are states
/// called "m/NAME" and "v/NAME". With `scaling`, gradients are unscaled by the state "loss_scale" of unscale(); if
/// their norm is not finite, only this state changes. Moving averages are states called "ema/NAME"; the last norms, if
/// outliers are skipped, are the state "grad_norms" of skip_outliers().
AppendedUpdate append_update(std::span<const Parameter> parameters, std::span<const Tensor> gradients, Tensor rates,
                             const OptimizerConfig& config, const std::optional<LossScaling>& scaling = {});

/// Throws InputError naming the first name in OptimizerConfig::no_decay that none of the parameters has.
void require_known_decay(std::span<const Parameter> parameters, const OptimizerConfig& config);

/// The state "loss_scale".
Tensor loss_scale_state(Graph& graph);

/// Names of the states that updates keep for these parameters, in order: moments, moving averages, last norms.
std::vector<std::string> update_states(std::span<const Parameter> parameters, const OptimizerConfig& config);

/// Prefix of moving averages, before the parameter's name.
inline constexpr const char* ema_prefix = "ema";

}  // namespace vkf
