// Projections as parts of ops: of project_out, and of attention, which projects before o is rounded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/op.h"
#include "graph/tensor.h"

namespace vkf {

/// Wanted projections: of whole rows of `heads` heads, of each head, or both.
struct Projection {
    std::int64_t heads = 1;
    bool of_rows = false, of_heads = false;
};

/// Components of o, [..., heads·D], perpendicular to v, each as wide as o, and the coefficients <o,v>/<v,v>: [..., 1]
/// for rows, [..., heads] for heads. Absent where not wanted.
struct Projected {
    Tensor rows, heads, row_coefficients, head_coefficients;
};

/// Outputs of an op that projects: (rows, their coefficients), then (heads, their coefficients).
std::vector<TensorType> types_of(const Projection& projection, const TensorType& o);
Projected projected(const Projection& projection, std::span<const Tensor> outputs);
inline bool is_coefficients(std::size_t output) {
    return output % 2 == 1;
}

/// Mask of the outputs that may be kept in 16 bits; and an argument that is the null address if there is no tensor.
std::uint32_t half_outputs_of(const Projection& projection);
inline ArgValue or_null(Tensor tensor) {
    return tensor ? ArgValue{tensor} : ArgValue{};
}

/// Throws InputError unless o and v have one type and their rows divide into `heads` heads.
void require_heads(const TensorType& o, const TensorType& v, std::int64_t heads);

/// All outputs of types_of(), by plain ops.
std::vector<Tensor> project_out_by_plain_ops(const Projection& projection, Tensor o, Tensor v);

/// Launch that projects o, a tensor or temporary fp32 memory with rows like v's. Coefficients absent in `into` are not
/// stored.
Dispatch project_out_launch(const DeviceTraits& device, const Projection& projection, const ArgValue& o, Tensor v,
                            const Projected& into);

/// Operands of the gradients of projections: `residual` is the perpendicular component of heads if heads have a
/// gradient, else that of rows; coefficients and gradients of rows or heads are absent if these have no gradient.
struct ProjectOutOperands {
    Tensor residual, v, a_rows, a_heads, g_rows, g_heads;

    Projection projection(std::int64_t heads) const {
        return {heads, static_cast<bool>(g_rows), static_cast<bool>(g_heads)};
    }
};
/// `d` has the gradients of rows and heads, of which one may be absent; `made` is read only where `d` has a gradient.
ProjectOutOperands project_out_operands(Tensor v, const Projected& made, const Projected& d);

/// d_o, d_v and delta = <d_o, o>, [B, heads, T] for rows [B, T, heads·D]. Attention's derivative needs no more of o.
struct ProjectOutGradients {
    Tensor d_o, d_v, delta;
};
ProjectOutGradients project_out_gradients(std::int64_t heads, const ProjectOutOperands& operands);
Dispatch project_out_backward_launch(const DeviceTraits& device, std::int64_t heads, const ProjectOutOperands& operands,
                                     const ProjectOutGradients& into);

}  // namespace vkf
