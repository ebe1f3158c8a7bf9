#include "models/train/trainer.h"

#include "base/error.h"
#include "base/random.h"
#include "ops/backward.h"
#include "ops/ops.h"

namespace vkf {

namespace {

constexpr const char* gradient_prefix = "gradient/";

std::vector<Tensor> tensors_of(const Parameters& parameters) {
    std::vector<Tensor> list;
    for (const Parameter& parameter : parameters.list()) list.push_back(parameter.tensor);
    return list;
}

}  // namespace

Trainer::Trainer(Device& device, const LossGraph& training, const LossGraph& evaluation, const TrainerConfig& config)
    : device_(device), config_(config), state_(device) {
    if (config.gradient_accumulation_steps == 1)
        build_single(training);
    else
        build_accumulating(training);
    evaluation_.graph.output("loss", evaluation(Scope(evaluation_.graph, parameters_)));
    evaluation_.program.emplace(device_, evaluation_.graph, state_);
    for (const Parameter& parameter : parameters_.list())
        state_.write(parameter.name, initial_values(parameter, config.seed));
}

/// The step's loss as an output; the gradient of every parameter.
std::vector<Tensor> Trainer::append_gradients(const LossGraph& training) {
    Graph& graph = step_.graph;
    Noise noise{config_.dropout, config_.drop_path, {}};
    if (noise.any()) noise.seed = graph.input("seed", {DType::i32, {2}});
    const Tensor loss = training(Scope(graph, parameters_, noise));
    graph.output("loss", loss);
    return gradients(loss, tensors_of(parameters_));
}

void Trainer::build_single(const LossGraph& training) {
    const std::vector<Tensor> d = append_gradients(training);
    Graph& graph = step_.graph;
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    graph.output("grad_norm", append_update(parameters_.list(), d, rates, config_.optimizer));
    step_.program.emplace(device_, graph, state_);
}

void Trainer::build_accumulating(const LossGraph& training) {
    const std::vector<Tensor> d = append_gradients(training);
    Graph& graph = step_.graph;
    std::vector<Tensor> sums;
    for (const Parameter& p : parameters_.list())
        sums.push_back(graph.state(gradient_prefix + p.name, {DType::f32, p.shape}));
    graph.scope = "accumulate";
    add_into(sums, d, 1.0f / static_cast<float>(config_.gradient_accumulation_steps));
    step_.program.emplace(device_, graph, state_);

    Graph& update = update_.graph;
    const Tensor rates = update.input("rates", {DType::f32, {4}});
    std::vector<Tensor> means;
    for (const Parameter& p : parameters_.list())
        means.push_back(update.state(gradient_prefix + p.name, {DType::f32, p.shape}));
    update.output("grad_norm", append_update(parameters_.list(), means, rates, config_.optimizer));
    zero(means);
    update_.program.emplace(device_, update, state_);
}

StepResult Trainer::step(std::int64_t it, double learning_rate, const Feed& feed) {
    const auto micro_steps = static_cast<std::uint64_t>(config_.gradient_accumulation_steps);
    const auto rates = step_rates(learning_rate, config_.optimizer.beta1, config_.optimizer.beta2, it + 1);
    Program& program = *step_.program;
    Program& last = update_.program ? *update_.program : program;
    StepResult result;
    for (std::uint64_t i = 0; i < micro_steps; ++i) {
        const std::uint64_t number = static_cast<std::uint64_t>(it) * micro_steps + i;
        feed(program, number);
        if (config_.dropout > 0 || config_.drop_path > 0) {
            const auto key = stream_key(config_.seed, "dropout", number);
            const std::array words{static_cast<std::int32_t>(key[0]), static_cast<std::int32_t>(key[1])};
            program.write("seed", words);
        }
        if (&program == &last) program.write("rates", rates);
        program.run();
        result.loss += static_cast<double>(program.read_scalar("loss"));
    }
    if (update_.program) {
        last.write("rates", rates);
        last.run();
    }
    result.loss /= static_cast<double>(micro_steps);
    result.grad_norm = static_cast<double>(last.read_scalar("grad_norm"));
    return result;
}

double Trainer::evaluate(const Feed& feed, std::uint64_t first, std::int64_t count,
                         const std::function<void(Program&)>& look) {
    Program& program = *evaluation_.program;
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        feed(program, first + static_cast<std::uint64_t>(i));
        program.run();
        sum += static_cast<double>(program.read_scalar("loss"));
        if (look) look(program);
    }
    return sum / static_cast<double>(count);
}

std::vector<std::string> Trainer::kept_states() const {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters_.list()) names.push_back(parameter.name);
    for (std::string& name : moment_names(parameters_.list(), config_.optimizer)) names.push_back(std::move(name));
    return names;
}

std::vector<const Program*> Trainer::programs() const {
    std::vector<const Program*> list{&*step_.program};
    if (update_.program) list.push_back(&*update_.program);
    return list;
}

std::string Trainer::find_non_finite() {
    return step_.program->find_non_finite();
}

}  // namespace vkf
