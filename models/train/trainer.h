// A model in training: the recorded programs of one step and of evaluation, over shared parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "models/scope.h"
#include "models/train/optimizer.h"
#include "program/program.h"

namespace vkf {

struct TrainerConfig {
    std::int64_t gradient_accumulation_steps = 1;
    float dropout = 0.0f;
    float drop_path = 0.0f;
    OptimizerConfig optimizer;
    std::uint64_t seed = 1337;
};

/// Describes the loss of a micro-batch, a scalar; declares the inputs that a micro-batch is written to, and whatever
/// outputs are wanted of an evaluation.
using LossGraph = std::function<Tensor(const Scope&)>;
/// Writes a micro-batch, found by its number, into a program's inputs.
using Feed = std::function<void(Program&, std::uint64_t number)>;

struct StepResult {
    double loss = 0;       // mean over the micro-batches
    double grad_norm = 0;  // global, before clipping
};

/// With one micro-batch a step is one program: forward, backward, update. With more, one program adds each
/// micro-batch's gradient to a state and another updates from their mean.
class Trainer {
public:
    /// Parameters begin at their initial values, drawn from the seed; moments at zero. Evaluation has a graph of its
    /// own, without randomness.
    Trainer(Device& device, const LossGraph& training, const LossGraph& evaluation, const TrainerConfig& config);
    Trainer(const Trainer&) = delete;  // programs refer to their graphs

    /// One update. `it` counts updates from 0; micro-batches are numbered over the whole run.
    StepResult step(std::int64_t it, double learning_rate, const Feed& feed);
    /// Runs micro-batches first … first + count − 1 without randomness; returns their mean loss. `look` sees each one's
    /// outputs.
    double evaluate(const Feed& feed, std::uint64_t first, std::int64_t count,
                    const std::function<void(Program&)>& look = {});

    State& state() { return state_; }
    const State& state() const { return state_; }
    const Parameters& parameters() const { return parameters_; }
    /// All states that a resumed run needs: parameters and moments.
    std::vector<std::string> kept_states() const;
    /// The step's programs, for reports: one, or two with accumulation.
    std::vector<const Program*> programs() const;
    /// Where the first number that is not finite comes from, on the last batch.
    std::string find_non_finite();

private:
    struct Stage {
        Graph graph;
        std::optional<Program> program;
    };

    std::vector<Tensor> append_gradients(const LossGraph& training);
    void build_single(const LossGraph& training);
    void build_accumulating(const LossGraph& training);

    Device& device_;
    TrainerConfig config_;
    State state_;
    Parameters parameters_;
    Stage step_;    // forward and backward, and the update too without accumulation
    Stage update_;  // with accumulation only
    Stage evaluation_;
};

}  // namespace vkf
