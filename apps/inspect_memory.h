// What a training step and inference take of memory, and where it goes: part of what `inspect` tells.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/analysis.h"

namespace vkf {

/// Both beside each other, part by part; `cache` is bytes of keys and values of one sequence, or 0.
std::string memory_text(const Analysis& inference, const Analysis& training, double cache);
nlohmann::ordered_json memory_document(const Analysis& analysis);

/// The memory plan of a training step: its `top` largest tensors, or as a document all of them.
std::string plan_text(const Analysis& step, std::int64_t top);
nlohmann::ordered_json plan_document(const Analysis& step);

}  // namespace vkf
