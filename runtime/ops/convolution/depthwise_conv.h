// Depthwise convolution of images whose pixels are tokens.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// Tokens of a sequence: `leading` tokens outside of the image, such as a class token, then the image's pixels row by
/// row.
struct TokenGrid {
    std::int64_t height = 1, width = 1;
    std::int64_t leading = 0;

    std::int64_t tokens() const { return leading + height * width; }
};

/// Convolves each channel with a kernel of its own, at stride 1 and with zeros around the image: PyTorch's conv2d with
/// groups = C and padding = (K − 1) / 2.
///
///     y[b, (i, j), c] = bias[c] + Σ_{p, q} weight[c, 0, p, q] · x[b, (i + p − (K−1)/2, j + q − (K−1)/2), c]
///
/// Shapes: x, y [B, T, C] with T = grid.tokens(); weight [C, 1, K, K]; bias [C] or absent. K may be larger than the
/// image. Leading tokens of y are 0, and those of x are not read.
/// Numerics: fp32. Taps are added in order of rows, then columns; the weight's gradient is summed over runs of rows of
/// pixels, whose length depends only on sizes and device, and then over the runs.
/// Throws InputError naming the shapes if they contradict each other, and if K is even: then no tap is the middle one,
/// and the result would be larger than the image.
Tensor depthwise_conv(Tensor x, Tensor weight, Tensor bias, const TokenGrid& grid);

}  // namespace vkf
