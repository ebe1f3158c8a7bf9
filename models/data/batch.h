// Micro-batches of whole numbers, such as tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace vkf {

/// A micro-batch: the values of inputs of the loss, row-major, by the names of the inputs. A language model has
/// `tokens` and `targets`, [B, T]; a negative target is ignored.
using Batch = std::map<std::string, std::vector<std::int32_t>, std::less<>>;

}  // namespace vkf
