// Lines translated by a model, for the commands that do so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/model.h"
#include "models/translation/beam_search.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

class Device;
struct Common;

struct TranslateOptions {
    std::int64_t beam_size = 5;
    std::int64_t batch_size = 16;  // sources that are translated at once
    double length_penalty = 1;
    std::string length_penalty_kind = "power";
    std::optional<std::int64_t> max_length;  // else twice the source's and 10 more
    SearchRules rules = {};

    /// Adds the options under a heading, if one is given.
    void declare(cli::Command& command, const std::string& group = {});
    /// Takes the settings that no option gives from the model's files, and lists those that options could give in a
    /// note. Call once the command line is read. Throws InputError as read_translation_settings does.
    void take_defaults(const Common& common, const TranslationModel& model);

private:
    const cli::Command* command_ = nullptr;
};

/// A text that stands for a hypothesis, and the hypothesis.
struct Translation {
    std::string text;
    Hypothesis hypothesis;
};

struct Translations {
    std::vector<Tokens> sources;                  // of each line, with the end; none of an empty line
    std::vector<std::vector<Translation>> lines;  // of each line the best ones, best first; none for an empty line
    std::int64_t tokens = 0;                      // of the best of each line
    double seconds = 0;                           // of reading and writing, without compilation
};

/// Translates lines, sorted by length so that a batch has sentences of similar length; results have the lines' order.
/// Shows progress. `where` names a line in messages. Throws InputError for a line that the model cannot read, before
/// anything is translated, and Interrupted after Ctrl-C.
Translations translate_lines(Device& device, const Common& common, const TranslationModel& model,
                             const std::vector<std::string>& lines, const TranslateOptions& options,
                             std::int64_t n_best, const std::function<std::string(std::size_t line)>& where);

}  // namespace vkf
