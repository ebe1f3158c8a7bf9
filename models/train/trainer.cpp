#include "models/train/trainer.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "models/files/weights.h"
#include "ops/optimizer/optimizers.h"

namespace vkf {

namespace {

/// Name of the state of a parameter's moving average.
std::string average_of(const Parameter& parameter) {
    return text(ema_prefix, "/", parameter.name);
}

}  // namespace

Trainer::Trainer(Device& device, const LossGraph& training, const LossGraph& evaluation, const TrainerConfig& config)
    : Trainer(device, LossGraphs{.shapes = {training}}, LossGraphs{.shapes = {evaluation}}, config) {}

Trainer::Trainer(Device& device, const LossGraphs& training, const LossGraphs& evaluation, const TrainerConfig& config)
    : device_(device),
      config_(with_device_defaults(config, device)),
      state_(device),
      training_(training),
      evaluation_(evaluation),
      steps_(training.shapes.size()) {
    if (training.one_at_a_time) {
        const StepGraphs& graphs = described(0).graphs;
        state_.reserve(graphs.step);
        if (graphs.update) state_.reserve(*graphs.update);
    } else {
        for (std::size_t shape = 0; shape < steps_.size(); ++shape) prepared(shape);
        make_shared_programs();
    }
    for (const Parameter& parameter : parameters().list())
        state_.write(parameter.name, initial_values(parameter, config.seed));
    if (config.scales_loss()) state_.write("loss_scale", std::array{config.loss_scaling.initial, 0.0f});
    begin_averages();
}

Trainer::Step& Trainer::described(std::size_t shape) {
    std::unique_ptr<Step>& step = steps_.at(shape);
    if (!step) step = std::make_unique<Step>(training_.shapes[shape], config_);
    return *step;
}

/// The program of a shape's step. With one shape at a time, replaces those of another shape.
Program& Trainer::prepared(std::size_t shape) {
    Step& step = described(shape);
    if (step.program) return *step.program;
    if (training_.one_at_a_time) release();
    step.program = std::make_unique<Program>(device_, step.graphs.step, state_, ProgramOptions{.shares = largest()});
    step.flops = step.program->flops();
    if (training_.one_at_a_time) make_shared_programs();
    return *step.program;
}

/// Ends the updates under way, whose results are kept, and releases all programs.
void Trainer::release() {
    for (Update& update : updates_) conclude(update);
    for (const auto& step : steps_)
        if (step) step->program.reset();
    update_.reset();
    evaluations_.clear();
}

/// Makes the programs that use the arena of a step's program, and lets all have the hook and the timestamps.
void Trainer::make_shared_programs() {
    if (std::optional<Graph>& update = steps_.front()->graphs.update)
        update_.emplace(device_, *update, state_, ProgramOptions{.shares = largest()});
    for (const LossGraph& loss : evaluation_.shapes) evaluations_.push_back(compile_evaluation(loss));
    if (hook_) set_gradient_hook(hook_);
    if (trace_) set_stamps();
}

/// The step's program with the largest arena, which others share; null if there is none yet.
const Program* Trainer::largest() const {
    const Program* found = nullptr;
    for (const auto& step : steps_)
        if (step && step->program && (!found || step->program->memory().arena > found->memory().arena))
            found = step->program.get();
    return found;
}

std::unique_ptr<CompiledGraph> Trainer::compile_evaluation(const LossGraph& loss) {
    Parameters& evaluated = averaged() ? averages_ : steps_.front()->graphs.parameters;
    const auto describe = [&](Graph& graph) {
        graph.output("loss", loss(Scope(graph, evaluated)));
        narrow_frozen(graph, evaluated, config_.frozen);
    };
    return std::make_unique<CompiledGraph>(device_, state_, config_.evaluated_activations(), describe,
                                           ProgramOptions{.shares = largest()});
}

void Trainer::begin_averages() {
    if (!averaged()) return;
    for (const Parameter& parameter : parameters().trained())
        state_.write(average_of(parameter), state_.read(parameter.name));
}

/// The programs that change the parameters, each of whose graphs has the hook.
std::vector<Program*> Trainer::programs_with_update() {
    if (update_) return {&*update_};
    std::vector<Program*> list;
    for (const auto& step : steps_)
        if (step && step->program) list.push_back(step->program.get());
    return list;
}

void Trainer::set_gradient_hook(GradientHook hook) {
    hook_ = std::move(hook);
    for (Program* program : programs_with_update()) {
        if (!hook_)
            program->set_hook({});
        else
            program->set_hook([this](std::span<HookedTensor> memory) {
                for (std::size_t k = 0; k < memory.size(); ++k) hook_(buckets()[k], memory[k]);
            });
    }
}

void Trainer::set_trace(Trace trace) {
    require(updates_.empty(), "an update is under way");
    trace_ = std::move(trace);
    set_stamps();
}

void Trainer::set_stamps() {
    for (const auto& step : steps_)
        if (step && step->program) step->program->set_stamps(static_cast<bool>(trace_));
    if (update_) update_->set_stamps(static_cast<bool>(trace_));
}

void Trainer::start(std::int64_t it, double learning_rate, const Feed& feed) {
    const std::int64_t micro_steps = config_.gradient_accumulation_steps;
    const auto first = static_cast<std::uint64_t>(it * micro_steps);
    Program& first_step = step_of(first);
    Program& last = update_ ? *update_ : first_step;
    last.write("rates", step_rates(learning_rate, config_.optimizer.beta1, config_.optimizer.beta2, it + 1));
    updates_.push_back({{}, micro_steps, &last});
    std::int64_t started = 0;
    try {
        for (; started < micro_steps; ++started) {
            if (running_.size() == 2) finish_micro_batch();
            const std::uint64_t number = first + static_cast<std::uint64_t>(started);
            Program& step = training_.one_at_a_time ? first_step : step_of(number);
            const auto began = TracedRun::Clock::now();
            write_micro_batch(step, number, feed);
            const auto submitting = TracedRun::Clock::now();
            step.start();
            running_.push_back(&step);
            if (!trace_) continue;
            const auto waiting = TracedRun::Clock::now();
            finish_micro_batch();
            trace_({step, began, submitting, waiting, TracedRun::Clock::now()});
        }
        if (update_) update_->start();
    } catch (...) {
        take_back(started > 0);
        throw;
    }
}

/// Drops the update that was to be started last, with the gradients that its micro-batches have added to sums. An
/// earlier update under way ends normally.
void Trainer::take_back(bool begun) {
    while (begun && !running_.empty()) finish_micro_batch();
    updates_.pop_back();
    if (!begun) return;
    for (std::size_t k = 0; k < buckets().size(); ++k)
        state_.write(gradient_sums(k), std::vector<float>(static_cast<std::size_t>(buckets()[k].layout.elements)));
}

void Trainer::write_micro_batch(Program& program, std::uint64_t number, const Feed& feed) {
    feed(program, number);
    if (!config_.has_dropout()) return;
    const auto key = stream_key(config_.seed, "dropout", number);
    program.write("seed", std::array{static_cast<std::int32_t>(key[0]), static_cast<std::int32_t>(key[1])});
}

void Trainer::finish_micro_batch() {
    Update& at = updates_.front().left > 0 ? updates_.front() : updates_.back();
    Program& step = *running_.front();
    step.finish();
    running_.pop_front();
    at.result.loss += static_cast<double>(step.read_scalar("loss"));
    --at.left;
}

StepResult Trainer::finish() {
    require(!updates_.empty(), "no update is under way");
    conclude(updates_.front());
    const StepResult result = updates_.front().result;
    updates_.pop_front();
    return result;
}

/// Waits for an update, the first whose result is not complete, and completes its result.
void Trainer::conclude(Update& update) {
    if (!update.last) return;
    while (update.left > 0) finish_micro_batch();
    const auto waiting = TracedRun::Clock::now();
    if (update_) update_->finish();
    if (update_ && trace_) trace_({*update_, waiting, waiting, waiting, TracedRun::Clock::now()});
    StepResult& result = update.result;
    const Program& last = *std::exchange(update.last, nullptr);
    result.loss /= static_cast<double>(config_.gradient_accumulation_steps);
    result.grad_norm = static_cast<double>(last.read_scalar("grad_norm"));
    if (config_.scales_loss()) {
        result.loss_scale = static_cast<double>(last.read_scalar("loss_scale"));
        result.skipped = !std::isfinite(result.grad_norm);
    }
    if (config_.optimizer.skip_outliers > 0) {
        const float z_score = last.read_scalar("grad_norm_z_score");
        result.norm_z_score = static_cast<double>(z_score);
        result.outlier = z_score > static_cast<float>(config_.optimizer.skip_outliers);
    }
}

StepResult Trainer::step(std::int64_t it, double learning_rate, const Feed& feed) {
    require(updates_.empty(), "another update is under way");
    start(it, learning_rate, feed);
    return finish();
}

double Trainer::evaluate(const Feed& feed, std::uint64_t first, std::int64_t count,
                         const std::function<void(Program&)>& look) {
    if (evaluations_.empty()) prepared(0);
    double sum = 0, weights = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t number = first + static_cast<std::uint64_t>(i);
        Program& program = evaluations_.at(evaluation_.shape_of(number))->program;
        feed(program, number);
        program.run();
        const auto loss = static_cast<double>(program.read_scalar("loss"));
        if (!std::isfinite(loss)) {
            std::string source = vkf::find_non_finite(state_, kept_states());
            if (source.empty()) source = program.find_non_finite();
            throw NotFinite("an evaluation's loss is ", loss, "; the first number that is not finite: ", source);
        }
        const double weight = evaluation_.weight_of(number);
        sum += weight * loss;
        weights += weight;
        if (look) look(program);
    }
    return sum / weights;
}

std::vector<std::string> Trainer::kept_states() const {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters().list()) names.push_back(parameter.name);
    for (std::string& name : update_states(parameters().trained(), config_.optimizer)) names.push_back(std::move(name));
    if (config_.scales_loss()) names.emplace_back("loss_scale");
    return names;
}

std::vector<std::string> Trainer::evaluated_states() const {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters().trained())
        names.push_back(averaged() ? average_of(parameter) : parameter.name);
    return names;
}

double Trainer::flops(std::int64_t it) const {
    const std::int64_t micro_steps = config_.gradient_accumulation_steps;
    double sum = update_ ? update_->flops() : 0;
    for (std::int64_t i = it * micro_steps; i < (it + 1) * micro_steps; ++i)
        sum += steps_.at(training_.shape_of(static_cast<std::uint64_t>(i)))->flops;
    return sum;
}

std::vector<const Program*> Trainer::programs() const {
    std::vector<const Program*> list;
    for (const auto& step : steps_)
        if (step && step->program) list.push_back(step->program.get());
    if (update_) list.push_back(&*update_);
    return list;
}

std::string Trainer::find_non_finite(std::int64_t it, const Feed& feed) {
    while (under_way() > 0) finish();
    const std::int64_t micro_steps = config_.gradient_accumulation_steps;
    std::string found;
    for (std::int64_t i = 0; i < micro_steps && found.empty(); ++i) {
        const auto number = static_cast<std::uint64_t>(it * micro_steps + i);
        write_micro_batch(step_of(number), number, feed);
        found = step_of(number).find_non_finite();
    }
    return found;
}

}  // namespace vkf
