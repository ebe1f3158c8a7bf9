// A model as `inspect` sees it: a configuration, sizes of batches, and functions that make graphs of any others, too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/config/model_config.h"
#include "models/train/step_graphs.h"

namespace vkf {

/// Extents of a batch: rows, and tokens of a row, which are those of the source and of the target in pairs. Images have
/// no length.
struct BatchSizes {
    std::int64_t rows = 1, length = 0;
};

/// Appends a program's ops to a graph.
using GraphBuilder = std::function<void(const Scope&)>;

/// Functions of the models of a task, for any configuration and sizes.
struct InspectedTask {
    const char* item;  // unit of work: "token"
    /// Logits of a batch, with its inputs.
    Tensor (*logits)(const Scope&, const ModelConfig&, const BatchSizes&);
    /// Loss of a batch, with its inputs and, for an evaluation, the outputs that evaluations need.
    Tensor (*loss)(const Scope&, const ModelConfig&, const BatchSizes&, bool evaluation);
    /// Description of a batch for people, and the number of its items.
    std::string (*batch)(const BatchSizes&);
    double (*items)(const BatchSizes&);
    /// The programs that write texts of `rows` rows, with room for a whole context; null, or none of them: the model
    /// writes no text.
    std::vector<GraphBuilder> (*generation)(const ModelConfig&, std::int64_t rows, Format activations) = nullptr;
};

struct InspectedModel {
    const InspectedTask* task;
    ModelConfig config;
    BatchSizes sizes;
    TrainerConfig trainer = {};
    std::string train_toml = {};  // only of a training command
    double cache = 0;             // bytes of keys and values of one sequence

    double items() const { return task->items(sizes); }
    double items_in_step() const { return items() * static_cast<double>(trainer.gradient_accumulation_steps); }
    LossGraph loss(bool evaluation = false) const {
        return [this, evaluation](const Scope& scope) { return task->loss(scope, config, sizes, evaluation); };
    }
    std::vector<GraphBuilder> generation(std::int64_t rows) const {
        if (!task->generation) return {};
        return task->generation(config, rows, trainer.activations);
    }
};

}  // namespace vkf
