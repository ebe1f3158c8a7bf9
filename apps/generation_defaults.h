// How text is generated where no option says it: as the model's files do.
#pragma once

#include "apps/common.h"
#include "apps/model.h"
#include "models/continuation.h"

namespace CLI {
class App;
}

namespace vkf {

/// Takes from the model's generation_config.json, or config.json, what the command's options have not said, tells so in
/// a note, and adds the tokens that end its texts.
/// Throws: InputError naming the file and what it asks for that is not done here or is out of bounds.
void take_generation_defaults(const CLI::App& command, const Common& common, const Model& model,
                              ContinuationOptions& how);

}  // namespace vkf
