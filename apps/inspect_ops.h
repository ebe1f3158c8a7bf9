// The launches of a training step, op by op: part of what `inspect` tells.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/analysis.h"

namespace vkf {

/// Dispatches, phases, FLOPs and bytes of the ops of each part, whatever layer they are of, most bytes first; and their
/// sums. A phase is what lies between two barriers; it counts for the op whose dispatch begins it.
std::string ops_text(const Analysis& step);
nlohmann::ordered_json ops_document(const Analysis& step);

}  // namespace vkf
