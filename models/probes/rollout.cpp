#include "models/probes/rollout.h"

#include <utility>

namespace vkf {

std::vector<double> rollout(std::span<const AttentionWeights> blocks, std::size_t token) {
    const std::size_t tokens = blocks.front().tokens;
    std::vector<double> reached(tokens), before(tokens);  // from the last block down
    reached[token] = 1;
    for (std::size_t block = blocks.size(); block-- > 0;) {
        const AttentionWeights& weights = blocks[block];
        std::swap(reached, before);
        for (std::size_t j = 0; j < tokens; ++j) reached[j] = 0.5 * before[j];
        const double share = 0.5 / static_cast<double>(weights.heads);
        for (std::size_t h = 0; h < weights.heads; ++h)
            for (std::size_t i = 0; i < tokens; ++i)
                for (std::size_t j = 0; j < tokens; ++j) reached[j] += share * before[i] * weights.row(h, i)[j];
    }
    return reached;
}

}  // namespace vkf
