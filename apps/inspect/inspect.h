// Parts of `vkformer inspect` that its models share, and one function per task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/inspect/inspect_report.h"
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

/// The model of a directory.
InspectedModel inspect_language(const InspectOptions& options, Format activations);
InspectedModel inspect_images(const InspectOptions& options, Format activations);
InspectedModel inspect_translation(const InspectOptions& options, Format activations);

/// Begins a description with the parts that are the same for all tasks. Throws InputError if the configuration cannot
/// be built.
InspectedModel inspected(ModelConfig config, std::int64_t batch);
void add_view_options(cli::Command& command, InspectView& view);
/// Throws InputError if a run starts from a model, because that model's size overrides the flags.
void require_fresh(const RunOptions& options);
/// An example for the help of `inspect FAMILY`.
std::string inspect_example(const Family& family, const char* options);
/// Prints the report on a model.
void inspect(const Common& common, const InspectView& view, const InspectedModel& model);

}  // namespace vkf
