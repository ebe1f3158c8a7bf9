// Whole models that are timed: the recipes that come with the program, and GPT-2 itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/bench/bench.h"
#include "apps/inspect/analysis.h"
#include "models/families/family.h"
#include "models/train/trainer.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

class Device;

struct BenchModel {
    std::string name;   // name for --model
    std::string title;  // title in tables
    ModelConfig config;
    std::string shape;  // size of a batch, in tables
    const char* item;   // unit that a batch is counted in
    double items;
    LossGraph loss;
    std::function<void(Program&)> fill;  // writes the inputs of the loss
    TrainerConfig trainer = {};
    std::string attention = "standard";  // its variant

    /// Name of its measurements: the title, and the variant unless that is standard. "GPT-2 124M, belief-star"
    std::string measured_name() const { return attention == "standard" ? title : title + ", " + attention; }
    bool generates() const { return config.family().generates(); }
    /// Parameters with names and shapes, but no graph.
    Parameters parameters() const;
};

/// Batch size that replaces a model's own; 0: the model's own.
struct BatchSize {
    std::int64_t batch = 0;   // sequences or images
    std::int64_t length = 0;  // tokens per sequence

    /// Declares --batch-size and --block-size with their descriptions.
    void declare(cli::Command& app, const std::string& of_batch, const std::string& of_block);
};

/// A model that is timed: its config.json, the sequences or images per batch, and the tokens per sequence.
struct BenchEntry {
    const char *name, *title;
    std::int64_t batch, length;
    const char* config;
};

/// The model of an entry, with inputs at random.
BenchModel bench_language(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size);
BenchModel bench_images(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size);
BenchModel bench_translation(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size);
BenchModel bench_sequences(const BenchEntry& entry, const ModelConfig& config, const BatchSize& size);

/// Names that --model takes: all models, or only models that generate text.
std::vector<std::string> bench_model_names(bool generating = false);
/// All models, or the named one if there is one of that name, with the named attention variant; the gamma of attentionx
/// is 1.
std::vector<BenchModel> bench_models(const std::string& attention = "standard", const BatchSize& size = {},
                                     const std::string& name = {});
/// The named model, or all models if `name` is empty, without models that have no sequences of size.length tokens.
/// Throws InputError listing the known names, or if no model is left.
std::vector<BenchModel> chosen_models(const std::string& name, const std::string& attention = "standard",
                                      const BatchSize& size = {});

/// Work and memory of a training step.
Analysis analyse_step(const Device& device, const BenchModel& model);
/// Times training steps for `seconds`, at least `steps` of them: the clock from the end of one update to the end of the
/// next, as in training, where the host prepares an update while the device runs the previous one. `analysis` is that
/// of the step, `kernels` the implementation of its products (--kernels).
Measurement time_step(Device& device, const BenchModel& model, const Analysis& analysis, const std::string& kernels,
                      double seconds, std::int64_t steps = 1);

/// Generation that is timed: reading a prompt of a length, and then writing tokens of some texts at once.
struct GenerationSize {
    std::int64_t prompt = 256, rows = 1;

    /// The prompt's length, at most half the model's context.
    std::int64_t length(const ModelConfig& config) const;
};

/// Work and memory of reading the prompt beside a cache for the model's whole context.
Analysis analyse_generation(const Device& device, const ModelConfig& config, Format activations,
                            const GenerationSize& size);
/// Times "NAME prefill" and "NAME decode", each for `seconds` and at least `calls` calls.
std::vector<Measurement> time_generation(Device& device, const BenchModel& model, Format activations,
                                         const GenerationSize& size, double seconds, std::int64_t calls = 1);

/// Random tokens below `vocabulary`, the same at each call.
std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocabulary);

}  // namespace vkf
