// A model in training: the recorded programs of one step and of evaluation, over shared parameters.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/train/step_graphs.h"
#include "program/compiled_graph.h"

namespace vkf {

/// Writes a micro-batch, found by its number, into a program's inputs.
using Feed = std::function<void(Program&, std::uint64_t number)>;

/// Returns a feed that gives every update the `micro_batches` micro-batches of the first update.
inline Feed first_update_only(Feed feed, std::int64_t micro_batches) {
    return [feed = std::move(feed), micro_batches](Program& program, std::uint64_t number) {
        feed(program, number % static_cast<std::uint64_t>(micro_batches));
    };
}

/// Gets the gradients of an update, bucket by bucket, before any op reads them: summed over micro-batches, multiplied
/// by the loss scale if the loss is scaled, not clipped. May change them, and wait for other trainers of the same
/// model: the changed gradients are clipped and update the parameters.
using GradientHook = std::function<void(const GradientBucket&, HookedTensor& memory)>;

struct StepResult {
    double loss = 0;       // mean over the micro-batches
    double grad_norm = 0;  // global, before clipping
    /// With loss scaling (TrainerConfig::scales_loss): the scale of the next step's gradients; `skipped` is true if
    /// this step's gradients overflowed, so that parameters and moments did not change.
    std::optional<double> loss_scale;
    bool skipped = false;
    /// If outliers are skipped: the z-score of grad_norm among the last norms; `outlier` is true if this step was
    /// skipped because of it.
    std::optional<double> norm_z_score;
    bool outlier = false;
};

/// Losses of one model for micro-batches of several shapes.
struct LossGraphs {
    std::vector<LossGraph> shapes;
    /// True if a run has many updates of one shape before those of another one, as with images that grow. A trainer
    /// then makes the programs of a shape when an update first needs them, and releases those of the shape before. All
    /// micro-batches of an update have one shape.
    bool one_at_a_time = false;
    /// Index in `shapes` of the shape that a micro-batch has.
    std::function<std::size_t(std::uint64_t number)> shape_of = [](std::uint64_t) { return std::size_t{0}; };
    /// Weight of a micro-batch's loss in the mean of an evaluation.
    std::function<double(std::uint64_t number)> weight_of = [](std::uint64_t) { return 1.0; };
};

/// One run of a program in an update, as the host saw it: it wrote a batch, submitted the run and waited for its end.
/// The run that changes the parameters after accumulation has no batch of its own: its first three times are equal.
struct TracedRun {
    using Clock = std::chrono::steady_clock;

    const Program& program;
    Clock::time_point began, submitting, waiting, ended;
};
using Trace = std::function<void(const TracedRun&)>;

/// Runs StepGraphs and evaluations.
class Trainer {
public:
    /// Parameters start at their initial values, drawn from the seed; moments at zero. Evaluation has separate graphs,
    /// without randomness, of the parameters' moving averages if they are kept.
    Trainer(Device& device, const LossGraphs& training, const LossGraphs& evaluation, const TrainerConfig& config);
    /// Trainer whose micro-batches all have one shape.
    Trainer(Device& device, const LossGraph& training, const LossGraph& evaluation, const TrainerConfig& config);
    Trainer(const Trainer&) = delete;  // programs refer to their graphs

    /// Gets every run of a program in an update, when it has ended, until it is set to an empty one. Programs then take
    /// timestamps around each node and run one after the other, which is slower and changes no result. No update may be
    /// under way.
    void set_trace(Trace trace);

    /// Sets a hook between gradients and update; an empty one removes it. The device, and start() with it, then wait
    /// for the hook in every update.
    void set_gradient_hook(GradientHook hook);

    /// Starts an update; a second one may be started while it is under way, so that the device does not wait for the
    /// host. `it` counts updates from 0, including skipped ones: the optimiser's bias corrections depend on it.
    /// Micro-batches are numbered over the whole run. Exceptions of the feed or the gradients' hook pass through; the
    /// update has then not begun.
    void start(std::int64_t it, double learning_rate, const Feed& feed);
    /// Waits for the first of the updates under way.
    StepResult finish();
    std::size_t under_way() const { return updates_.size(); }
    /// Runs one update from start to finish; no other may be under way.
    StepResult step(std::int64_t it, double learning_rate, const Feed& feed);
    /// Runs micro-batches first … first + count − 1 without randomness; returns the mean of their losses by weight.
    /// `look` gets the program with the outputs of each. Throws NotFinite naming the first number that is not finite,
    /// if a loss is not.
    double evaluate(const Feed& feed, std::uint64_t first, std::int64_t count,
                    const std::function<void(Program&)>& look = {});

    /// Compiles a graph of an evaluation's loss, which may have outputs beside the loss, for the parameters that
    /// evaluation uses.
    std::unique_ptr<CompiledGraph> compile_evaluation(const LossGraph& loss);

    /// Sets the moving averages, if any are kept, to the present parameters, as the constructor does.
    void begin_averages();

    Device& device() const { return device_; }
    State& state() { return state_; }
    const State& state() const { return state_; }
    const Parameters& parameters() const { return steps_.front()->graphs.parameters; }
    /// All states that a step continues: parameters, states of updates, and "loss_scale" if the loss is scaled.
    std::vector<std::string> kept_states() const;
    /// States that evaluation uses as the parameters that training changes, in their order.
    std::vector<std::string> evaluated_states() const;
    /// Floating-point operations that the device computes in an update. With one shape at a time, the update must have
    /// been started.
    double flops(std::int64_t it) const;
    /// The step's programs, for reports: one for each shape that has one now, and one more with accumulation.
    std::vector<const Program*> programs() const;
    /// Source of the first number in update `it` that is not finite; empty if it does not happen again.
    std::string find_non_finite(std::int64_t it, const Feed& feed);

private:
    /// Step of micro-batches of one shape.
    struct Step {
        StepGraphs graphs;
        std::unique_ptr<Program> program = {};  // null while another shape has the only program
        double flops = 0;                       // of the program, also after its release

        Step(const LossGraph& loss, const TrainerConfig& config) : graphs(loss, config) {}
    };
    /// An update under way: the number of its unfinished micro-batches, and the program that changes the parameters,
    /// null once the result is complete.
    struct Update {
        StepResult result;
        std::int64_t left;
        Program* last;
    };

    bool averaged() const { return config_.optimizer.ema_decay > 0; }
    const std::vector<GradientBucket>& buckets() const { return steps_.front()->graphs.buckets; }
    Program& step_of(std::uint64_t number) { return prepared(training_.shape_of(number)); }
    Step& described(std::size_t shape);
    Program& prepared(std::size_t shape);
    void release();
    void make_shared_programs();
    void conclude(Update& update);
    std::vector<Program*> programs_with_update();
    void set_stamps();
    const Program* largest() const;
    void take_back(bool begun);
    void write_micro_batch(Program& program, std::uint64_t number, const Feed& feed);
    void finish_micro_batch();

    Device& device_;
    TrainerConfig config_;
    State state_;
    LossGraphs training_, evaluation_;
    std::vector<std::unique_ptr<Step>> steps_;  // by shape; all but the first may be null with one shape at a time
    std::optional<Program> update_;             // with accumulation only
    Parameters averages_{ema_prefix};
    std::vector<std::unique_ptr<CompiledGraph>> evaluations_;  // by shape
    std::deque<Program*> running_;                             // programs of the micro-batches under way
    std::deque<Update> updates_;
    GradientHook hook_;
    Trace trace_;
};

}  // namespace vkf
