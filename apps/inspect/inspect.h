// Parts of `vkformer inspect` that its models share, and one function per task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/inspect/inspect_report.h"
#include "apps/inspect/inspected_model.h"
#include "models/config/model_config.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Family;
class RunOptions;

struct InspectOptions {
    std::string model, base, optimizer = "adamw";
    std::int64_t batch_size = 12;
    std::optional<std::int64_t> block_size;
    InspectView view;
};

/// Adds `inspect FAMILY`: what a run with these options would train.
void add_inspect_language(cli::Command& inspect, Common& common, const Family& family);
void add_inspect_images(cli::Command& inspect, Common& common, const Family& family);
void add_inspect_translation(cli::Command& inspect, Common& common, const Family& family);
void add_inspect_sequences(cli::Command& inspect, Common& common, const Family& family);

/// A model of this configuration. Throws InputError if it cannot be built.
InspectedModel inspected_language(const ModelConfig& config, const BatchSizes& sizes, Format activations);
InspectedModel inspected_images(const ModelConfig& config, std::int64_t batch);
InspectedModel inspected_translation(const ModelConfig& config, const BatchSizes& sizes);
InspectedModel inspected_sequences(const ModelConfig& config, const BatchSizes& sizes);

/// The model of a directory.
InspectedModel inspect_language(const InspectOptions& options, Format activations);
InspectedModel inspect_images(const InspectOptions& options, Format activations);
InspectedModel inspect_translation(const InspectOptions& options, Format activations);
InspectedModel inspect_sequences(const InspectOptions& options, Format activations);

/// Throws InputError if a configuration cannot be built, or exceeds the limits of models that this program makes.
void require_buildable(ModelConfig config);
void add_view_options(cli::Command& command, InspectView& view);
/// Throws InputError if a run starts from a model, because that model's size overrides the flags.
void require_fresh(const RunOptions& options);
/// An example for the help of `inspect FAMILY`.
std::string inspect_example(const Family& family, const char* options);
/// Prints the report on a model.
void inspect(const Common& common, const InspectView& view, const InspectedModel& model);

}  // namespace vkf
