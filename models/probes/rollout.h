// Attention rollout: from which tokens the state of a token comes, through all blocks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace vkf {

/// Attention weights of one sequence in one block: element (h·T + i)·T + j is the weight of token j for token i
/// in head h. Of images, token 0 is the class token, the others are patches in rows from the top.
struct AttentionWeights {
    std::size_t heads = 0, tokens = 0;
    std::vector<double> values;

    std::span<const double> row(std::size_t head, std::size_t token) const {
        return std::span(values).subspan((head * tokens + token) * tokens, tokens);
    }
};

/// Share of every token that reaches `token` through all blocks. Each block is the mean, half and half, of its heads'
/// weights and the identity of its residual connection (Abnar and Zuidema, Quantifying Attention Flow in Transformers,
/// 2020). It uses the weights alone, regardless of what the variant makes of softmax(QKᵀ)V.
std::vector<double> rollout(std::span<const AttentionWeights> blocks, std::size_t token);

}  // namespace vkf
