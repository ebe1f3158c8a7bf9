// Attention with an epilogue: its result o is compared with, or projected on, the values at the queries' own positions,
// before o is rounded to the format of activations. o itself is not kept.
#pragma once

#include "ops/attention/attention.h"
#include "ops/attention/discrepancy.h"
#include "ops/attention/project_out.h"

namespace vkf {

/// q, k and v as in attention(), and query_values, [B, T, N·D_V]: the values at the queries' own positions.
struct AttentionInputs {
    Tensor q, k, v, query_values;
};

/// discrepancy(attention(q, k, v), query_values), [B, T, M·D_V].
Tensor attention_discrepancy(const AttentionInputs& in, float gamma, GammaOn on, const AttentionOptions& options);

/// project_out(attention(q, k, v), query_values) for whole rows, or for each head, [B, T, M·D_V].
Tensor attention_project_out_rows(const AttentionInputs& in, const AttentionOptions& options);
Tensor attention_project_out_heads(const AttentionInputs& in, const AttentionOptions& options);
/// Both projections by one op.
Projections attention_project_out_both(const AttentionInputs& in, const AttentionOptions& options);

}  // namespace vkf
