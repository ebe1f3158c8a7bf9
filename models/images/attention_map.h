// Where a vision transformer looks: attention weights made visible over the image.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/images/image.h"
#include "ops/attention_mask.h"

namespace vkf {

/// Attention weights of one image in one block, in double: element (h·T + i)·T + j is how much token i takes from token
/// j in head h. Token 0 is the class token, the others are patches in rows from the top.
struct AttentionWeights {
    std::size_t heads = 0, tokens = 0;
    std::vector<double> values;

    std::span<const double> row(std::size_t head, std::size_t token) const {
        return std::span(values).subspan((head * tokens + token) * tokens, tokens);
    }
};

/// softmax(scale·q·kᵀ) head by head, a token as query and as key at its own position; a row that sees nothing is zero.
/// Shapes: q, k [T, heads·D].
AttentionWeights attention_weights(std::span<const float> q, std::span<const float> k, std::size_t heads,
                                   std::size_t tokens, double scale, const AttentionMask& mask);

/// Attention rollout: what reaches the class token from every patch through all blocks, each block being the mean of
/// its heads' weights and the identity of its residual connection, half and half (Abnar and Zuidema, Quantifying
/// Attention Flow in Transformers, 2020). It follows the weights alone, whatever the variant makes of softmax(QKᵀ)V.
/// Returns T − 1 numbers.
std::vector<double> rollout(std::span<const AttentionWeights> blocks);

/// The image under a map of colours: the patches' numbers from their least to their greatest, smoothly interpolated
/// between the patches' centres.
/// Shapes: map [n·n], n patches along a side.
/// Throws: InputError unless the map is a square.
Image overlay(const Image& image, std::span<const double> map);

}  // namespace vkf
