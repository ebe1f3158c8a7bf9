// Launches of a training step, op by op, as `inspect` reports them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/inspect/analysis.h"

namespace vkf {

/// Dispatches, phases, FLOPs and bytes of ops by part, summed over layers, most bytes first; and their totals. A phase
/// is the work between two barriers; it counts for the op whose dispatch begins it.
std::string ops_text(const Analysis& step);
nlohmann::ordered_json ops_document(const Analysis& step);

}  // namespace vkf
