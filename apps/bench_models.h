// Whole models that are timed: the recipes that come with the program, and GPT-2 itself.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/train/trainer.h"

namespace vkf {

struct BenchModel {
    std::string name;   // for --model
    std::string title;  // in tables
    ModelConfig config;
    std::string shape;  // of a batch
    const char* item;   // what a batch has
    double items;
    LossGraph loss;
    std::function<void(Program&)> fill;  // the inputs of the loss
    TrainerConfig trainer = {};

    bool generates() const { return config.family().generates(); }
    /// Names and shapes, without a graph.
    Parameters parameters() const;
};

/// A batch of another size than a model's own; 0: its own.
struct BatchSize {
    std::int64_t batch = 0;   // sequences, or images
    std::int64_t length = 0;  // tokens of a sequence

    /// --batch-size and --block-size, with what they are.
    void declare(CLI::App& app, const std::string& of_batch, const std::string& of_block);
};

/// What --model takes: all names, or only those of models that generate text.
std::vector<std::string> bench_model_names(bool generating = false);
/// With an attention variant by its name, attentionx's gamma being 1.
std::vector<BenchModel> bench_models(const std::string& attention = "standard", const BatchSize& size = {});
/// The named one, or all of them. Throws InputError listing the known names, or if the named one has no sequences of
/// that length. Without a name, models that have none are left out.
std::vector<BenchModel> chosen_models(const std::string& name, const std::string& attention = "standard",
                                      const BatchSize& size = {});

/// Below the vocabulary's size, the same each time.
std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocabulary);

}  // namespace vkf
