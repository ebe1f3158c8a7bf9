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

GptTrainer::GptTrainer(Device& device, const Gpt2Config& model, const TrainerConfig& config)
    : device_(device), model_(model), config_(config), state_(device) {
    if (config.gradient_accumulation_steps == 1)
        build_single();
    else
        build_accumulating();
    build_evaluation();
    for (const Parameter& parameter : parameters_.list())
        state_.write(parameter.name, initial_values(parameter, config.seed));
}

Tensor GptTrainer::loss_of(Stage& stage, const Noise& noise) {
    const TensorType batch{DType::i32, {config_.batch_size, config_.block_size}};
    const Tensor tokens = stage.graph.input("tokens", batch);
    const Tensor targets = stage.graph.input("targets", batch);
    const Scope scope(stage.graph, parameters_, noise);
    const Tensor logits = gpt2(scope, model_, tokens);
    stage.graph.scope = "loss";
    const Tensor loss = cross_entropy(logits, targets);
    stage.graph.output("loss", loss);
    return loss;
}

void GptTrainer::build_single() {
    Graph& graph = step_.graph;
    const Tensor seed = config_.dropout > 0 ? graph.input("seed", {DType::i32, {2}}) : Tensor();
    const Tensor loss = loss_of(step_, {config_.dropout, seed});
    const std::vector<Tensor> d = gradients(loss, tensors_of(parameters_));
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    graph.output("grad_norm", append_update(parameters_.list(), d, rates, config_.optimizer));
    step_.program.emplace(device_, graph, state_);
}

void GptTrainer::build_accumulating() {
    Graph& graph = step_.graph;
    const Tensor seed = config_.dropout > 0 ? graph.input("seed", {DType::i32, {2}}) : Tensor();
    const Tensor loss = loss_of(step_, {config_.dropout, seed});
    const std::vector<Tensor> d = gradients(loss, tensors_of(parameters_));
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

void GptTrainer::build_evaluation() {
    loss_of(evaluation_, {});
    evaluation_.program.emplace(device_, evaluation_.graph, state_);
}

Program& GptTrainer::start(Stage& stage, const Batch& batch) {
    stage.program->write("tokens", batch.tokens);
    stage.program->write("targets", batch.targets);
    return *stage.program;
}

StepResult GptTrainer::step(std::int64_t it, double learning_rate, const std::function<Batch(std::uint64_t)>& batch) {
    const auto micro_steps = static_cast<std::uint64_t>(config_.gradient_accumulation_steps);
    const auto rates = step_rates(learning_rate, config_.optimizer.beta1, config_.optimizer.beta2, it + 1);
    Program& last = update_.program ? *update_.program : *step_.program;
    StepResult result;
    for (std::uint64_t i = 0; i < micro_steps; ++i) {
        const std::uint64_t number = static_cast<std::uint64_t>(it) * micro_steps + i;
        Program& program = start(step_, batch(number));
        if (config_.dropout > 0) {
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

double GptTrainer::evaluate(const Batches& batches, std::uint64_t first, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        Program& program = start(evaluation_, batches.at(first + static_cast<std::uint64_t>(i)));
        program.run();
        sum += static_cast<double>(program.read_scalar("loss"));
    }
    return sum / static_cast<double>(count);
}

std::vector<std::string> GptTrainer::kept_states() const {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters_.list()) names.push_back(parameter.name);
    for (std::string& name : moment_names(parameters_.list(), config_.optimizer)) names.push_back(std::move(name));
    return names;
}

std::vector<const Program*> GptTrainer::programs() const {
    std::vector<const Program*> list{&*step_.program};
    if (update_.program) list.push_back(&*update_.program);
    return list;
}

std::string GptTrainer::find_non_finite() {
    return step_.program->find_non_finite();
}

}  // namespace vkf
