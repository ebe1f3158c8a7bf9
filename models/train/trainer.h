// A GPT in training: the recorded programs of one step and of evaluation, over shared parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "graph/graph.h"
#include "models/data/dataset.h"
#include "models/gpt2.h"
#include "models/train/optimizer.h"
#include "program/program.h"

namespace vkf {

struct TrainerConfig {
    std::int64_t batch_size = 12;
    std::int64_t block_size = 1024;
    std::int64_t gradient_accumulation_steps = 1;
    float dropout = 0.0f;
    OptimizerConfig optimizer;
    std::uint64_t seed = 1337;
};

struct StepResult {
    double loss = 0;       // mean over the micro-batches
    double grad_norm = 0;  // global, before clipping
};

/// With one micro-batch a step is one program: forward, backward, update. With more, one program adds each
/// micro-batch's gradient to a state and another updates from their mean.
class GptTrainer {
public:
    /// Parameters begin at their initial values, drawn from the seed; moments at zero.
    GptTrainer(Device& device, const Gpt2Config& model, const TrainerConfig& config);

    /// One update. `it` counts updates from 0; `batch(i)` gives micro-batch i, counted over the whole run.
    StepResult step(std::int64_t it, double learning_rate, const std::function<Batch(std::uint64_t)>& batch);
    /// Mean loss without dropout over micro-batches first … first + count − 1.
    double evaluate(const Batches& batches, std::uint64_t first, std::int64_t count);

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

    Tensor loss_of(Stage& stage, const Noise& noise);
    void build_single();
    void build_accumulating();
    void build_evaluation();
    Program& start(Stage& stage, const Batch& batch);

    Device& device_;
    Gpt2Config model_;
    TrainerConfig config_;
    State state_;
    Parameters parameters_;
    Stage step_;    // forward and backward, and the update too without accumulation
    Stage update_;  // with accumulation only
    Stage evaluation_;
};

}  // namespace vkf
