// Memory of a training step and of inference, part by part, as `inspect` reports it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/inspect/analysis.h"

namespace vkf {

/// Table of inference and training, part by part; `cache` is bytes of keys and values of one sequence, or 0.
std::string memory_text(const Analysis& inference, const Analysis& training, double cache);
nlohmann::ordered_json memory_document(const Analysis& analysis);

/// Memory plan of a training step: its `top` largest tensors, or all tensors as a document.
std::string plan_text(const Analysis& step, std::int64_t top);
nlohmann::ordered_json plan_document(const Analysis& step);

}  // namespace vkf
