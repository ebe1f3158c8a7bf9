// Attention that is compared with, or projected on, the values at the queries' own positions, before its result o is
// rounded to what activations are kept in. o itself is not kept.
#pragma once

#include "ops/attention.h"
#include "ops/discrepancy.h"
#include "ops/project_out.h"

namespace vkf {

/// What attention reads, as in attention(), and own_v, [B, T, N·D_V]: the values at the queries' own positions.
struct AttentionInputs {
    Tensor q, k, v, own_v;
};

/// discrepancy(attention(q, k, v), own_v), [B, T, M·D_V].
Tensor attention_discrepancy(const AttentionInputs& in, float gamma, GammaOn on, const AttentionOptions& options);

/// project_out(attention(q, k, v), own_v) of whole rows, or of each head, [B, T, M·D_V].
Tensor attention_project_out_rows(const AttentionInputs& in, const AttentionOptions& options);
Tensor attention_project_out_heads(const AttentionInputs& in, const AttentionOptions& options);
/// Both.
Projections attention_project_out_both(const AttentionInputs& in, const AttentionOptions& options);

}  // namespace vkf
