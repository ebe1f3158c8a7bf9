// Shows a vision transformer's attention weights over its image.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/images/image.h"

namespace vkf {

/// Attention weights of one image in one block: element (h·T + i)·T + j is the weight of token j for token i
/// in head h. Token 0 is the class token, the others are patches in rows from the top.
struct AttentionWeights {
    std::size_t heads = 0, tokens = 0;
    std::vector<double> values;

    std::span<const double> row(std::size_t head, std::size_t token) const {
        return std::span(values).subspan((head * tokens + token) * tokens, tokens);
    }
};

/// Attention rollout: the share of every patch that reaches the class token through all blocks. Each block is the mean,
/// half and half, of its heads' weights and the identity of its residual connection (Abnar and Zuidema, Quantifying
/// Attention Flow in Transformers, 2020). It uses the weights alone, regardless of what the variant makes of
/// softmax(QKᵀ)V.
/// Returns T − 1 numbers.
std::vector<double> rollout(std::span<const AttentionWeights> blocks);

/// The image under a map of colours: the patches' numbers from their least to their greatest, interpolated linearly
/// between the patches' centres.
/// Shapes: map [n·n], n patches along a side.
/// Throws: InputError unless the map is a square.
Image overlay(const Image& image, std::span<const double> map);

}  // namespace vkf
