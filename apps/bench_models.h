// Whole models that are timed: the recipes that come with the program, and GPT-2 itself.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "models/gpt2.h"
#include "models/train/trainer.h"

namespace vkf {

struct BenchModel {
    std::string name;   // for --model
    std::string title;  // in tables
    std::string shape;  // of a batch
    const char* item;   // what a batch has
    double items;
    LossGraph loss;
    std::function<void(Program&)> fill;  // the inputs of the loss
    TrainerConfig trainer;
    std::optional<Gpt2Config> text;  // for models that generate

    /// Names and shapes, without a graph.
    Parameters parameters() const;
};

std::span<const BenchModel> bench_models();
/// Throws InputError listing the known names.
const BenchModel& bench_model(const std::string& name);

}  // namespace vkf
