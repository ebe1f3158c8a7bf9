#include "models/sequence_model.h"

#include "base/error.h"
#include "models/logits.h"
#include "ops/sampling/argmax.h"

namespace vkf {

const Task& sequence_task() {
    static const Task task{.model = "sequence classifier",
                           .sizes = {Dimension::vocab_size, Dimension::context, Dimension::classes}};
    return task;
}

namespace {

Features features(const Scope& scope, const ModelConfig& config, const Sentences& sequences) {
    validate(config);
    const Size context = config.size(Dimension::context);
    const std::int64_t length = sequences.tokens.shape()[1];
    require(length <= context, "a sequence of ", length, " tokens exceeds ", context.key, " ", context.value);
    return std::get<SequenceGraph>(config.family().graph).features(scope, config, sequences);
}

/// Inputs of a batch.
struct SequenceInputs {
    SequenceInputs(Graph& graph, const SequenceShape& shape)
        : sequences{graph.input("tokens", {DType::i32, {shape.rows, shape.length}}),
                    graph.input("lengths", {DType::i32, {shape.rows}})},
          targets(graph.input("targets", {DType::i32, {shape.rows}})) {}

    Sentences sequences;
    Tensor targets;
};

}  // namespace

Tensor sequence_logits(const Scope& scope, const ModelConfig& config, const Sentences& sequences) {
    const Features made = features(scope, config, sequences);
    return logits_of(made, made.features);
}

Tensor sequence_loss(const Scope& scope, const ModelConfig& config, const Sentences& sequences, Tensor targets,
                     const LossTerms& terms) {
    return mean_loss(scope, features(scope, config, sequences), targets, terms);
}

Tensor sequence_loss(const Scope& scope, const ModelConfig& config, const SequenceShape& shape,
                     const LossTerms& terms) {
    const SequenceInputs in(scope.graph(), shape);
    return sequence_loss(scope, config, in.sequences, in.targets, terms);
}

Tensor sequence_evaluation(const Scope& scope, const ModelConfig& config, const SequenceShape& shape) {
    const SequenceInputs in(scope.graph(), shape);
    const Features made = features(scope, config, in.sequences);
    scope.graph().output("likeliest", argmax(logits_of(made, made.features)));
    return mean_loss(scope, made, in.targets, {});
}

}  // namespace vkf
