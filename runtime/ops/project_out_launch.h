// Projections as parts of other ops: of project_out itself, and of attention, which projects before o is rounded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/op.h"
#include "graph/tensor.h"

namespace vkf {

/// Which projections: of whole rows of `heads` heads, of each head, or both.
struct Projection {
    std::int64_t heads = 1;
    bool of_rows = false, of_heads = false;
};

/// What a projection of o, [..., heads·D], leaves, each as wide as o, and its coefficients <o,v>/<v,v>: [..., 1] of
/// rows, [..., heads] of heads. Absent where not asked for.
struct Projected {
    Tensor rows, heads, row_coefficients, head_coefficients;
};

/// An op's outputs that a projection makes: (rows, their coefficients), then (heads, their coefficients).
std::vector<TensorType> types_of(const Projection& of, const TensorType& o);
Projected projected(const Projection& of, std::span<const Tensor> outputs);
inline bool is_coefficients(std::size_t output) {
    return output % 2 == 1;
}

/// Which of them may be kept in 16 bits, and no tensor as the null address.
std::uint32_t half_outputs_of(const Projection& of);
inline ArgValue or_null(Tensor tensor) {
    return tensor ? ArgValue{tensor} : ArgValue{};
}

/// Throws InputError unless o and v are alike and their rows fall into so many heads.
void require_heads(const TensorType& o, const TensorType& v, std::int64_t heads);

/// By plain ops: all of types_of().
std::vector<Tensor> project_out_by_plain_ops(const Projection& of, Tensor o, Tensor v);

/// o is a tensor or, in fp32, temporary memory; it lies in rows like v's. Coefficients that `into` lacks are not kept.
Dispatch project_out_launch(const DeviceTraits& device, const Projection& of, const ArgValue& o, Tensor v,
                            const Projected& into);

/// What the gradients of projections are made of: what is left of heads where these have a gradient, else of rows;
/// coefficients and gradients, those of rows or of heads absent where they have none.
struct ProjectOutOperands {
    Tensor left, v, a_rows, a_heads, g_rows, g_heads;

    Projection projection(std::int64_t heads) const {
        return {heads, static_cast<bool>(g_rows), static_cast<bool>(g_heads)};
    }
};
/// `d` has the gradients of rows and heads, one of them perhaps absent. Only where there is one is `made` looked at.
ProjectOutOperands project_out_operands(Tensor v, const Projected& made, const Projected& d);

/// d_o, d_v and delta = <d_o, o>, [B, heads, T] of rows [B, T, heads·D]: what attention's derivative needs of o.
struct ProjectOutGradients {
    Tensor d_o, d_v, delta;
};
ProjectOutGradients project_out_gradients(std::int64_t heads, const ProjectOutOperands& of);
Dispatch project_out_backward_launch(const DeviceTraits& device, std::int64_t heads, const ProjectOutOperands& of,
                                     const ProjectOutGradients& into);

}  // namespace vkf
