// The update half of a training step: gradients clipped, parameters and moments changed in place.
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
    bool decay_all = false;    // else only tensors of two or more dimensions decay, as nanoGPT
    double grad_clip = 1.0;    // global norm; 0: none
    double skip_outliers = 0;  // z-score of the gradients' norm above which a step is skipped; 0: none is
    double ema_decay = 0;      // of the parameters' exponential moving averages; 0: there are none
};

/// Dynamic loss scaling, which gradients in fp16 need: see unscale(). The defaults are those of PyTorch's GradScaler.
struct LossScaling {
    float initial = 65536.0f;             // the scale to begin with; a power of two, so that nothing is rounded
    std::int64_t growth_interval = 2000;  // good steps in a row after which the scale doubles
};

/// What is known of an update's gradients.
struct AppendedUpdate {
    Tensor norm;          // [] global, before clipping
    Tensor norm_z_score;  // [] among the last ones; no tensor where outliers are not skipped
};

/// Appends the update of every parameter by its gradient. `rates` is the f32[4] input of step_rates. Moments are states
/// called "m/NAME" and "v/NAME". Gradients that were scaled are unscaled on the way: their scale is the state
/// "loss_scale" of unscale(), and where their norm is not finite nothing else moves. Moving averages are states called
/// "ema/NAME"; the last norms, if outliers are skipped, the state "grad_norms" of skip_outliers().
AppendedUpdate append_update(std::span<const Parameter> parameters, std::span<const Tensor> gradients, Tensor rates,
                             const OptimizerConfig& config, const std::optional<LossScaling>& scaling = {});

/// The state "loss_scale".
Tensor loss_scale_state(Graph& graph);

/// Names of the states that updates keep of these parameters, in order: moments, moving averages, last norms.
std::vector<std::string> update_states(std::span<const Parameter> parameters, const OptimizerConfig& config);

/// What moving averages are called before their parameter's name.
inline constexpr const char* ema_prefix = "ema";

}  // namespace vkf
