// A model in training: the recorded programs of one step and of evaluation, over shared parameters.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/train/step_graphs.h"
#include "program/program.h"

namespace vkf {

/// Writes a micro-batch, found by its number, into a program's inputs.
using Feed = std::function<void(Program&, std::uint64_t number)>;

/// The micro-batches of the first update, of which there are so many, for every update.
inline Feed first_update_only(Feed feed, std::int64_t micro_batches) {
    return [feed = std::move(feed), micro_batches](Program& program, std::uint64_t number) {
        feed(program, number % static_cast<std::uint64_t>(micro_batches));
    };
}

/// Gets the gradients of an update, bucket by bucket, when they are there and nothing has been made of them: summed
/// over micro-batches, larger by the loss scale where the loss is scaled, not clipped. May change them, and wait for
/// others that train the same model: what it leaves there is clipped and updates the parameters.
using GradientHook = std::function<void(const GradientBucket&, HookedTensor& memory)>;

struct StepResult {
    double loss = 0;       // mean over the micro-batches
    double grad_norm = 0;  // global, before clipping
    /// With loss scaling, of TrainerConfig::scales_loss: the scale of the next step's gradients, and whether this
    /// step's overflowed, so that parameters and moments stayed as they were.
    std::optional<double> loss_scale;
    bool skipped = false;
    /// Where outliers are skipped: the z-score of grad_norm among the last ones, and whether this step was skipped for
    /// it.
    std::optional<double> norm_z_score;
    bool outlier = false;
};

/// Runs StepGraphs, and evaluation beside it.
class Trainer {
public:
    /// Parameters begin at their initial values, drawn from the seed; moments at zero. Evaluation has a graph of its
    /// own, without randomness, of the parameters' moving averages where they are kept.
    Trainer(Device& device, const LossGraph& training, const LossGraph& evaluation, const TrainerConfig& config);
    Trainer(const Trainer&) = delete;  // programs refer to their graphs

    /// Lets something stand between gradients and update; nothing, if it is empty. The device then waits for it in
    /// every update, and start() with it.
    void set_gradient_hook(GradientHook hook);

    /// Starts an update; a second one may be started while it is under way, so that the device does not wait for the
    /// host. `it` counts updates from 0, and skipped ones too: the optimiser's bias corrections go on with it.
    /// Micro-batches are numbered over the whole run. What the feed or the gradients' hook throws passes through; the
    /// update has not begun.
    void start(std::int64_t it, double learning_rate, const Feed& feed);
    /// Waits for the first of the updates under way.
    StepResult finish();
    std::size_t under_way() const { return updates_.size(); }
    /// One update, from start to finish; none is under way.
    StepResult step(std::int64_t it, double learning_rate, const Feed& feed);
    /// Runs micro-batches first … first + count − 1 without randomness; returns their mean loss. `look` sees each one's
    /// outputs. Throws NotFinite, naming the first number that is to blame, if a loss is not finite.
    double evaluate(const Feed& feed, std::uint64_t first, std::int64_t count,
                    const std::function<void(Program&)>& look = {});

    /// Lets the moving averages begin at the parameters as they are now, if any are kept; so they do at first.
    void begin_averages();

    State& state() { return state_; }
    const State& state() const { return state_; }
    const Parameters& parameters() const { return graphs_.parameters; }
    /// All states that a step goes on from: parameters, what updates keep, and "loss_scale" if the loss is scaled.
    std::vector<std::string> kept_states() const;
    /// The states that hold what evaluation takes for the parameters that training moves, in their order.
    std::vector<std::string> evaluated_states() const;
    /// The step's programs, for reports: one, or two with accumulation.
    std::vector<const Program*> programs() const;
    /// Where update `it` gets the first number from that is not finite; empty if it does not happen again.
    std::string find_non_finite(std::int64_t it, const Feed& feed);

private:
    /// An update under way, and how many of its micro-batches are.
    struct Update {
        StepResult result;
        std::int64_t left;
    };

    bool averaged() const { return config_.optimizer.ema_decay > 0; }
    void take_back(bool begun);
    Program& last() { return update_ ? *update_ : step_; }
    void write_micro_batch(std::uint64_t number, const Feed& feed);
    void finish_micro_batch();

    Device& device_;
    TrainerConfig config_;
    State state_;
    StepGraphs graphs_;
    Program step_;
    std::optional<Program> update_;  // with accumulation only
    Parameters averages_{ema_prefix};
    Graph evaluation_graph_;
    std::optional<Program> evaluation_;
    std::deque<Update> updates_;
};

}  // namespace vkf
