// Launches of project_out's kernels, for the ops that project in one way and in both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/op.h"
#include "graph/tensor.h"

namespace vkf {

/// Throws unless o and v are alike and their rows fall into so many groups.
void require_groups(std::span<const TensorType> o_and_v, std::int64_t groups);

/// Of kernels over groups of rows like o's, where these operands may be kept in 16 bits if groups are made of whole
/// pairs.
KernelTraits projection_traits(Tensor o, std::int64_t groups, std::uint32_t in, std::uint32_t out);

/// y = what is left of o in each of `groups` groups of a row.
Dispatch project_out_launch(const DeviceTraits& device, std::int64_t groups, Tensor o, Tensor v, Tensor y);

/// Two gradients, dense: tensors of one format, or temporary memory in fp32.
struct GradientPair {
    ArgValue d_o, d_v;
    Format format = Format::f32;
};

/// d_o and d_v of it, given the gradient g of y; what they are added to may be themselves.
struct ProjectOutGradients {
    Tensor o, v, g;
    GradientPair into;
    std::optional<GradientPair> addend = {};
};
Dispatch project_out_backward_launch(const DeviceTraits& device, std::int64_t groups, const ProjectOutGradients& at);

/// The node that makes both: d_o and d_v.
std::vector<Tensor> project_out_backward(Tensor o, Tensor v, Tensor g, std::int64_t groups);

}  // namespace vkf
