// Tensors that a training step in mixed precision keeps in fp32, and the reasons, as `inspect` reports them.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "apps/inspect/analysis.h"

namespace vkf {

/// Table with one row for all tensors, of any block, that are made alike and stay fp32 for the same reason; most bytes
/// first.
std::string types_text(const Analysis& step);
/// Rows of types_text() as an array of objects.
nlohmann::ordered_json types_document(const Analysis& step);

}  // namespace vkf
