// A study of a model's attention heads on data: where they look, what each is worth, the loss without some.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/eval/model_evaluation.h"
#include "models/probes/head_layers.h"
#include "models/probes/head_statistics.h"
#include "program/compiled_graph.h"

namespace vkf {

/// Weights of a layer's heads in one sequence, [M, T, S], and the tokens that they are between, as texts.
struct SeenLayer {
    std::string name;
    std::int64_t heads = 0;
    bool cross = false;
    std::vector<std::string> queries, keys;
    std::vector<float> weights;
};

/// Layers of the evaluated model that have heads.
std::vector<HeadLayer> layers_of(const ModelEvaluation& evaluation);

class HeadStudy {
public:
    /// Studies up to `batches` batches of the evaluation, evenly spread over all. Throws InputError if the model has no
    /// attention heads.
    HeadStudy(Device& device, Format activations, ModelEvaluation evaluation, std::uint64_t batches);

    const std::vector<HeadLayer>& layers() const { return pruning_->layers(); }
    HeadPruning& pruning() { return *pruning_; }
    const State& state() const { return state_; }
    const Parameters& parameters() const { return parameters_; }
    std::int64_t batches() const { return std::ssize(numbers_); }

    /// Called after each batch.
    using Step = std::function<void()>;

    /// Statistics of every head, by layer, over rows of about 1024 positions of each batch; those of a variant with
    /// several maps per head are empty. Keeps what the heads see of the first sequence.
    std::vector<std::vector<HeadStatistics>> look(const Step& step);
    /// Layers in the first sequence that look() has read, without padding.
    const std::vector<SeenLayer>& first_sequence() const { return first_; }

    /// Mean loss of all items, with the heads as they are.
    double loss(const Step& step);

private:
    CompiledGraph& program(std::vector<std::unique_ptr<CompiledGraph>>& list, std::uint64_t number,
                           const std::vector<std::string>& taps);
    /// Occurrences of each token in the batches; nothing for images.
    std::vector<std::int64_t> uses(bool source) const;

    Device& device_;
    Format activations_;
    ModelEvaluation evaluation_;
    std::vector<std::uint64_t> numbers_;  // of the batches
    State state_;
    Parameters parameters_;
    std::vector<std::unique_ptr<CompiledGraph>> plain_, watching_;  // by shape; null until it is needed
    std::vector<std::vector<Tapped>> watched_;                      // tensors of the watching programs
    std::unique_ptr<HeadPruning> pruning_;
    std::vector<SeenLayer> first_;
};

}  // namespace vkf
