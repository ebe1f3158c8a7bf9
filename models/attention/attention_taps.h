// Tensors of every self-attention layer that taps can watch (Scope::tap). Letters are those of
// ops/attention/attention.h; W is the output map, without its bias. A layer whose variant has several attention maps
// per head offers only `residual` and `signal`; one whose kind of attention forms no weights offers all but them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/attention/variant.h"

namespace vkf {

struct LinearOptions;

namespace tap {

inline constexpr std::string_view residual = "residual";          // X [B, T, C], to which the layer adds
inline constexpr std::string_view signal = "signal";              // input of the output map, [B, T, M·D_V]
inline constexpr std::string_view values = "values";              // V [B, T, M·D_V], grouped heads repeated
inline constexpr std::string_view attended = "attended";          // MH = softmax(QKᵀ)V [B, T, M·D_V]
inline constexpr std::string_view attended_map = "attended_map";  // MH·W [B, T, C]
/// Δ·W [B, T, C], where Δ is the part of MH that is perpendicular to V, of whole rows (BeliefFormer, eq. 10-14).
inline constexpr std::string_view perpendicular_map = "perpendicular_map";
inline constexpr std::string_view weights = "attention_weights";  // softmax(QKᵀ) [B, M, T, S]

/// Weights [B, M, T, S] and MH of cross-attention; a recurrent model has one head, and offers only its weights.
inline constexpr std::string_view cross_weights = "cross_attention", cross_attended = "cross_attended";

/// W by head, a view of the stored parameter: [M, D_V, C], or [C, M, D_V] if it is stored [out, in]. A layer with two
/// output maps offers both, one after the other.
inline constexpr std::string_view output_map = "output_map";

}  // namespace tap

/// Names of the tensors that self-attention computes: all from `residual` to `weights`.
std::vector<std::string> attention_tap_names();

/// Output map of a layer.
struct AttentionTapMap {
    std::string_view name;
    const LinearOptions& options;
};

/// Offers the layer's tensors, of the rows that Taps::positions leaves; each is made only if it is watched.
void tap_attention(const AttentionContext& at, Tensor residual, Tensor signal, const AttentionTapMap& map);

/// Offers tap::output_map of a map from the heads' outputs, `signal`, to `out` numbers.
void tap_output_map(const Scope& scope, Tensor signal, std::int64_t heads, std::int64_t out,
                    const AttentionTapMap& map);

/// Offers tap::cross_weights and tap::cross_attended of attention o = softmax(scale · q kᵀ) v.
void tap_cross_attention(const Scope& scope, Tensor q, Tensor k, Tensor o, const AttentionOptions& options);

}  // namespace vkf
