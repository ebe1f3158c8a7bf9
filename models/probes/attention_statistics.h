// Statistics of attention layers from the tensors that they offer to taps (attention/attention_taps.h), in double.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace vkf {

/// A statistic of a layer, for the first token of each row of the batch and for all tokens, averaged over both. A
/// statistic that no token has is not a number.
struct TokenMean {
    double first = 0, all = 0;
};

/// Tensors of one layer, under the names of their taps. Rows are tokens, [B·T, …].
struct LayerTensors {
    std::int64_t batch = 1, queries = 1, keys = 1, heads = 1;
    bool cross = false;  // queries and keys belong to different sequences: only `attended` and `weights` are read
    std::map<std::string, std::vector<float>, std::less<>> by_name;
};

/// Statistics by name. For token k with the residual stream X_k, values V_k, MH_k = Σ_j α_kj V_j, Δ_k the part of MH_k
/// perpendicular to V_k, and output map W:
///
///     mh_norm, delta_norm                ‖MH_k‖, ‖Δ_k‖                      (BeliefFormer, eq. 13 and Fig. 4)
///     mh_output_norm, delta_output_norm  ‖MH_k W‖, ‖Δ_k W‖                  (Fig. 4 and 8)
///     mh_output_angle, delta_output_angle
///                                        angle of these with X_k, in degrees, of tokens where both are not zero,
///                                        nor Δ_k smaller than rounding errors
///     phi_norm                           ‖Φ_k‖ = ‖V_k − MH_k‖, or of AttentionX's own signal if `signal_is_phi`
///     value_cosine                       cosine of a head's o_k and v_k, mean of the heads where both are not zero
///     self_weight                        α_kk, mean of the heads            (AttentionX, eq. 12-13)
///     entropy                            −Σ_j α_kj ln α_kj, mean of the heads
///     rank                               number of the largest singular values of a head's α, [T, S], that have
///                                        90 % of the sum of squares, mean of the heads; `all` only, and if T, S ≤ 256
///
/// Rows of padding, whose MH is zero, do not count. Cross-attention, whose queries have no values of their own, has
/// mh_norm, entropy and rank.
std::map<std::string, TokenMean> attention_statistics(const LayerTensors& layer, bool signal_is_phi);

}  // namespace vkf
