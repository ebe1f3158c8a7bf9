// Generation settings that no option gives: taken from the model's files.
#pragma once

#include "apps/cli/common.h"
#include "apps/model.h"
#include "models/generation/continuation.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

/// Takes settings that the command's options do not give from the model's generation_config.json or config.json, lists
/// them in a note, and adds the tokens that end the model's texts. Throws: InputError naming the file and its setting
/// that is unsupported or out of bounds.
void take_generation_defaults(const cli::Command& command, const Common& common, const Model& model,
                              ContinuationOptions& settings);

}  // namespace vkf
