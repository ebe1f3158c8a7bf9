#include "models/adapters/lora.h"

#include <algorithm>
#include <cmath>

namespace vkf {

bool LoraConfig::adapts(std::string_view path) const {
    return std::ranges::any_of(targets, [&](const std::string& target) {
        return path.ends_with(target) && (path.size() == target.size() || path[path.size() - target.size() - 1] == '.');
    });
}

float LoraConfig::scale() const {
    const auto divisor = static_cast<float>(rank);
    return alpha / (rank_stabilized ? std::sqrt(divisor) : divisor);
}

}  // namespace vkf
