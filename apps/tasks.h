// Functions of the commands for each task. A new task is its graph in models/families/family.h, these functions, and a
// line of tasks.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "graph/tensor.h"
#include "models/config/model_config.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

struct BatchSize;
struct BenchEntry;
struct BenchModel;
struct Common;
struct EvalOptions;
struct ModelEvaluation;
struct Family;
struct ForwardCase;
struct ForwardOptions;
struct InspectOptions;
struct InspectedModel;
struct Task;
class Safetensors;

struct TaskCommands {
    const Task& (*task)();

    /// Adds `train FAMILY`.
    void (*add_train)(cli::Command& train, Common& common, const Family& family);
    void (*eval)(const Common& common, const EvalOptions& options);
    ModelEvaluation (*evaluation)(const Common& common, const EvalOptions& options);
    ForwardCase (*forward)(const ForwardOptions& options, const Safetensors& file);
    /// Adds `inspect FAMILY`.
    void (*add_inspect)(cli::Command& inspect, Common& common, const Family& family);
    /// The model of a directory.
    InspectedModel (*inspect)(const InspectOptions& options, Format activations);
    BenchModel (*bench)(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size);
};

const TaskCommands& commands_of(const Task& task);

/// Heading of the options that only models of a task have: "Vision models".
std::string option_group(const Task& task);
/// Throws InputError naming an option that was given under the heading of another task than the model's.
void require_options_of(const cli::Command& command, const Task& task, const std::string& model);

void add_train_language(cli::Command& train, Common& common, const Family& family);
void add_train_images(cli::Command& train, Common& common, const Family& family);
void add_train_translation(cli::Command& train, Common& common, const Family& family);
void add_train_sequences(cli::Command& train, Common& common, const Family& family);

}  // namespace vkf
