// Options of `vkformer eval`, and one function per task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/generate/translate_lines.h"
#include "models/images/codecs/picture.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;
struct Task;

struct EvalOptions {
    std::string model, base;
    std::string split;  // train, val, for images also test or all; empty: val, or all images of a folder without splits
    bool verify = true;                 // check the model's manifest
    std::string data, text, hellaswag;  // data to evaluate on: one of these
    const std::string& subject() const {
        return !data.empty() ? data : !text.empty() ? text : !source.empty() ? source : hellaswag;
    }
    std::int64_t batch_size = 0;  // 0: 12 sequences, 128 images
    bool allow_nonfinite = false;
    bool probe = false;  // instead of the loss: statistics of attention

    // language models
    std::optional<std::int64_t> block_size;  // else n_positions
    std::optional<std::int64_t> iters;       // else 200
    bool all = false;
    std::optional<std::int64_t> stride;  // else block_size
    std::optional<std::int64_t> limit;   // tasks
    bool parse_special = false;          // recognise names of special tokens in a text
    /// True if every token is predicted exactly once.
    bool predicts_every_token() const { return all || !text.empty(); }

    // translation models
    std::string source, target;            // parallel texts, instead of data
    std::string fields = "source,target";  // of the objects in a .jsonl file
    bool bleu = false;                     // translate the sources too
    TranslateOptions translate;

    // sequence classifiers
    std::string label_fields = "text,label";  // of the objects in a .jsonl file

    // vision models
    std::string statistics;  // else those of preprocessor_config.json
    bool coarse_labels = false;
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;
    std::string confusion_matrix;  // PNG to write
};

/// Adds the options on images, pairs of sentences and texts with labels, by which data are read.
void add_image_and_pair_options(cli::Command& command, EvalOptions& options);

void eval_language(const Common& common, const EvalOptions& options);
void eval_hellaswag(const Common& common, const EvalOptions& options);
void eval_images(const Common& common, const EvalOptions& options);
void eval_translation(const Common& common, const EvalOptions& options);
void eval_sequences(const Common& common, const EvalOptions& options);
/// Prints statistics of every attention layer on the first batch (models/probes/attention_statistics.h).
void eval_probe(const Common& common, const EvalOptions& options, const Task& task);

/// Throws Error if the result called `name` is not finite and options do not allow that; `source` names the origin of
/// the first such number.
void require_finite(const EvalOptions& options, const char* name, double value, const std::string& source = {});

}  // namespace vkf
