#include "models/attention/attention_context.h"

#include "base/error.h"
#include "models/attention/kind.h"

namespace vkf {

namespace {

/// Inputs of ops that compute attention and compare its result with the values at the queries' own positions.
AttentionInputs inputs(const AttentionContext& at) {
    return {at.q, at.k, at.v, at.required_query_values()};
}

}  // namespace

Tensor AttentionContext::attended() const {
    const auto attend = config.kind().attend;
    return attend ? attend(*this) : attention(q, k, v, options);
}

Tensor AttentionContext::discrepancy(float gamma, GammaOn on) const {
    if (!config.kind().attend) return attention_discrepancy(inputs(*this), gamma, on, options);
    return vkf::discrepancy(attended(), required_query_values(), gamma, on, options.value_heads());
}

Tensor AttentionContext::project_out_rows() const {
    if (!config.kind().attend) return attention_project_out_rows(inputs(*this), options);
    return project_out(attended(), required_query_values(), 1, options.value_heads());
}

Tensor AttentionContext::project_out_heads() const {
    if (!config.kind().attend) return attention_project_out_heads(inputs(*this), options);
    return project_out(attended(), required_query_values(), options.heads, options.value_heads());
}

Projections AttentionContext::project_out_both() const {
    if (!config.kind().attend) return attention_project_out_both(inputs(*this), options);
    return vkf::project_out_both(attended(), required_query_values(), options.heads, options.value_heads());
}

Tensor AttentionContext::required_query_values() const {
    require(static_cast<bool>(query_values), "attention '", config.variant_name(),
            "' needs values at the queries' own positions, and in cross-attention there are none: wanted standard");
    return query_values;
}

}  // namespace vkf
