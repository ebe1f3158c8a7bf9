// What a training step in mixed precision keeps in fp32, and why: part of what `inspect` tells.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "apps/analysis.h"

namespace vkf {

/// One row for all tensors that are made alike and stayed fp32 for the same reason, whatever block they are of; most
/// bytes first.
std::string types_text(const Analysis& step);
/// The same as an array of objects.
nlohmann::ordered_json types_document(const Analysis& step);

}  // namespace vkf
