// The vocabulary that models are written in. Each function appends nodes to the graph of its arguments; shapes are
// checked as the line runs. One op family per .cpp file.
//
// Letters in shapes: B batch, T query positions, S key positions, C channels, M heads, N key/value heads, D head width,
// V vocabulary; "..." is any number of leading extents. Unless said otherwise an argument may be a slice of wider rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

// ----------------------------------------------------------------------------------------------- arithmetic.cpp

/// Elementwise with broadcasting of either side: an operand may lack leading extents, and its extents that are not 1
/// must be one contiguous run equal to the other's (a bias, one number per row, positions over a batch, a scalar).
Tensor add(Tensor a, Tensor b);
Tensor sub(Tensor a, Tensor b);
Tensor mul(Tensor a, Tensor b);
Tensor div(Tensor a, Tensor b);
/// factor · x
Tensor scale(Tensor x, float factor);
/// A tensor of one value.
Tensor fill(Graph& graph, Shape shape, float value);
/// The number that `fill` made all of x, if it did.
std::optional<float> filled_with(Tensor x);

// ----------------------------------------------------------------------------------------------- activation.cpp

enum class Activation : std::uint32_t { none, gelu, gelu_tanh, relu, silu, exp };

/// gelu: x·Φ(x) with the exact Φ (erf); gelu_tanh: GPT-2's approximation; silu: x·σ(x); exp: eˣ, for learned scales.
Tensor activate(Tensor x, Activation kind);
/// d_y · kind'(x), the derivative taken at the saved pre-activation x.
Tensor activate_backward(Tensor x, Tensor d_y, Activation kind);

// ----------------------------------------------------------------------------------------------------- view.cpp

/// The same elements under another shape; no kernel, x contiguous (else copied first).
Tensor reshape(Tensor x, Shape shape);
/// Slices of the last axis, one per width, together the whole of it; views, no kernel.
std::vector<Tensor> split(Tensor x, std::span<const std::int64_t> widths);
/// Parts side by side along the last axis: the inverse of split.
Tensor concat(std::span<const Tensor> parts);
/// Elements [start, start + count) of an axis. A view where the result's rows lie at equal distances (columns; the
/// first axis or one row of another axis of a contiguous tensor), else a copy.
Tensor slice(Tensor x, int axis, std::int64_t start, std::int64_t count);
/// Axes in another order, copied (a view if only axes of extent 1 move); up to 6 axes.
Tensor permute(Tensor x, std::span<const int> axes);
/// x itself, or a copy of it if it is a slice of wider rows.
Tensor contiguous(Tensor x);

// --------------------------------------------------------------------------------------------------- reduce.cpp

/// Σ over the last axis: [..., C] → [..., 1].
Tensor row_sum(Tensor x);
/// Σ over all rows: [..., C] → [C]. Fixed order, two passes.
Tensor column_sum(Tensor x);
/// Sums x down to a shape that broadcasts to it: the adjoint of broadcasting.
Tensor sum_to(Tensor x, const Shape& shape);
/// Repeats x up to a shape it broadcasts to.
Tensor broadcast_to(Tensor x, const Shape& shape);

// --------------------------------------------------------------------------------------------------- matmul.cpp

struct MatmulOptions {
    bool transpose_a = false;  // not both
    bool transpose_b = false;
    float alpha = 1.0f;
    Tensor bias = {};  // [N], added to every row
    Activation activation = Activation::none;
    Tensor addend = {};  // shape of the result, added after the activation
};

/// activation(alpha · op(a)·op(b) + bias) + addend. a [..., M, K] (or [..., K, M] transposed), b [K, N] shared by the
/// batch or [..., K, N] with a's leading extents. With a shared b all rows of a form one product.
Tensor matmul(Tensor a, Tensor b, const MatmulOptions& options = {});

// -------------------------------------------------------------------------------------------------- softmax.cpp

struct SoftmaxOptions {
    bool causal = false;         // row i of the last two axes [T, S] sees columns j ≤ i + S − T
    bool mask_diagonal = false;  // and not j = i + S − T
};

/// softmax over the last axis of the columns a row may see; a row that sees none gives zeros.
Tensor softmax(Tensor x, const SoftmaxOptions& options = {});

// ----------------------------------------------------------------------------------------------------- norm.cpp

/// (x − mean) / sqrt(var + eps) · weight + bias over the last axis; weight and bias [C] or absent.
Tensor layer_norm(Tensor x, Tensor weight, Tensor bias, float eps);
/// x / sqrt(mean(x²) + eps) · weight over the last axis; weight [C] or absent.
Tensor rms_norm(Tensor x, Tensor weight, float eps);

// ------------------------------------------------------------------------------------------------ embedding.cpp

/// Rows of table [V, C] at i32 indices [...] → [..., C]. Its backward sums in a fixed order. Indices outside [0, V)
/// must be refused before the run; on the device they read row 0 … V−1 clamped.
Tensor embedding(Tensor table, Tensor indices);

// -------------------------------------------------------------------------------------------------- dropout.cpp

/// x with each element zeroed with probability p and the rest scaled by 1/(1−p). `seed` is an i32[2] input that the
/// host changes each step; `salt` tells the sites of one model apart. The mask is drawn anew in the backward pass.
Tensor dropout(Tensor x, float p, Tensor seed, std::uint32_t salt);

// -------------------------------------------------------------------------------------------- cross_entropy.cpp

/// Mean over the rows with a target ≥ 0 of log Σ exp(logits) − logits[target]: logits [..., V], targets i32 [...] → [].
/// The gradient may take the logits' own memory. No row with a target: loss and gradient are 0.
Tensor cross_entropy(Tensor logits, Tensor targets);

// ------------------------------------------------------------------------------------------------ head_loss.cpp

struct HeadLossOptions {
    std::int64_t logits_bytes = std::int64_t{32} << 20;
    Tensor d_loss = {};  // [] gradient that the loss will have, known beforehand; absent: 1. Any other costs a pass.
};

/// cross_entropy(x · wᵀ, targets): x [..., C], w [V, C], targets i32 [...] → []. Logits are made and used up a chunk of
/// rows at a time, of at most about `logits_bytes`, and never saved: where a gradient is wanted the forward pass makes
/// it. Where none is wanted that costs nothing.
Tensor head_loss(Tensor x, Tensor w, Tensor targets, const HeadLossOptions& options = {});

// --------------------------------------------------------------------------------------- soft_cross_entropy.cpp

/// Mean over rows of Σ_j targets_j · (log Σ exp(logits) − logits_j), both [..., V] → []: cross-entropy against weights,
/// which for smoothed and mixed labels add up to 1. Targets are data, without a derivative.
Tensor soft_cross_entropy(Tensor logits, Tensor targets);

// --------------------------------------------------------------------------------------------- repeat_heads.cpp

/// [..., heads·D] → [..., heads·repeat·D], each head `repeat` times over, side by side: what grouped queries see.
Tensor repeat_heads(Tensor x, std::int64_t heads, std::int64_t repeat);
/// v repeated to the width of o, for query heads that share `value_heads` value heads; v itself if it is as wide.
Tensor match_heads(Tensor v, Tensor o, std::int64_t value_heads);

// ---------------------------------------------------------------------------------------------- discrepancy.cpp

enum class GammaOn : std::uint32_t { sum, value };

/// Consensus discrepancy of AttentionX: v − γ·o (sum: 000 eq 10-11) or γ·v − o (value: 001 eq 9-10), elementwise.
/// With grouped queries v is [..., N·D] in N = value_heads heads, each meeting all query heads that share it.
Tensor discrepancy(Tensor o, Tensor v, float gamma, GammaOn on, std::int64_t value_heads = 0);

// ---------------------------------------------------------------------------------------------- project_out.cpp

/// The component of o perpendicular to v, per row and group of width C/groups: o − (<o,v>/<v,v>)·v; o where <v,v> is 0
/// or subnormal. BeliefFormer (002) eq 10-14 with one group, eq 15 with one group per head. Grouped queries as above.
/// Numerics: fp32 sums, no eps; where o = v the result is rounding noise of a few 2^-24·|v|, never NaN.
Tensor project_out(Tensor o, Tensor v, std::int64_t groups, std::int64_t value_heads = 0);

// ----------------------------------------------------------------------------------------- project_out_both.cpp

struct Projections {
    Tensor rows, heads;
};

/// project_out with one group and with a group per head: what belief-star needs (BeliefFormer eq 15-17).
Projections project_out_both(Tensor o, Tensor v, std::int64_t heads, std::int64_t value_heads = 0);

// ------------------------------------------------------------------------------------------------- attention.cpp

struct AttentionOptions {
    std::int64_t heads = 1;      // M query heads
    std::int64_t kv_heads = 0;   // N key and value heads, a divisor of M; 0: M
    bool causal = false;         // query i of T stands at position i + S − T and sees nothing behind it
    bool mask_diagonal = false;  // nor the key at its own position
    float scale = 0.0f;          // of q·k; 0: 1/√D
    float dropout = 0.0f;        // on the probabilities
    Tensor seed = {};            // i32[2], changed by the host each step; needed with dropout
    std::uint32_t salt = 0;
    Tensor length = {};  // i32[1]: only that many of the S keys count; then there is no derivative

    std::int64_t value_heads() const { return kv_heads ? kv_heads : heads; }
    double scale_for(std::int64_t head_width) const;
};

/// softmax(scale · q kᵀ) v per head: q [B, T, M·D], k and v [B, S, N·D] → [B, T, M·D]. D is at most 256.
/// Saves log-sum-exp, [B, M, T]; the T×S matrix is never stored. A query that sees no key gives zeros and zero
/// gradients.
Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options);

// ----------------------------------------------------------------------------------------------------- cache.cpp

/// Appends rows [B, T, C] to a state [B, S, C] in place, so that it holds `length` (i32, one element) rows afterwards:
/// whole[b, length − T + t] = rows[b, t]. Rows that would lie outside are not stored. No derivative.
Tensor store_rows(Tensor whole, Tensor rows, Tensor length);

// --------------------------------------------------- optimize.cpp, loss_scale.cpp, adamw.cpp, setadam.cpp, sgd.cpp

/// targets[i] += factor · values[i] in place; the new targets. Few dispatches for many tensors, as all of this section.
std::vector<Tensor> add_into(std::span<const Tensor> targets, std::span<const Tensor> values, float factor);
/// targets[i] = 0 in place.
std::vector<Tensor> zero(std::span<const Tensor> targets);

struct GlobalNorm {
    Tensor norm;  // []
    Tensor clip;  // [] min(1, limit / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; 1 if there is no limit
};

/// The Euclidean norm of all gradients as one vector, summed in a fixed order, and the factor that brings it down to
/// the limit (0: none). Where the norm is not finite the factor is -1, which skips the step.
GlobalNorm global_norm(std::span<const Tensor> gradients, float limit = 0.0f);

struct LossScaleOptions {
    float limit = 0.0f;                   // of the norm; 0: none
    std::int64_t growth_interval = 2000;  // good steps in a row after which the scale doubles
};

struct Unscaled {
    Tensor norm;   // [] of the gradients themselves
    Tensor clip;   // [] what makes scaled gradients clipped ones; -1, which skips the step, if the norm is not finite
    Tensor state;  // the new one
};

/// Dynamic loss scaling (Micikevicius et al., ICLR 2018) by the rules of PyTorch's GradScaler: gradients in fp16 are
/// computed `state[0]` times too large, so that small ones are not lost. `norm` is their global norm; `state`, f32[2],
/// is the scale and how many steps in a row were good. After a bad one, whose norm is not finite, the scale halves;
/// after growth_interval good ones it doubles, to 2^100 at most. The state changes in place.
Unscaled unscale(Tensor norm, Tensor state, const LossScaleOptions& options = {});

/// One parameter with its gradient and what its optimiser remembers of it: states of the parameter's shape, first zero.
struct Slot {
    Tensor parameter;
    Tensor gradient;
    Tensor m = {};  // running mean of gradients; sgd: the momentum buffer, absent without momentum
    Tensor v = {};  // running mean of their squares; absent for sgd
    float weight_decay = 0.0f;
};

/// What the host writes into the f32[4] input `rates` before step t = 1, 2, …: lr, lr/(1−β1^t), 1/(1−β2^t),
/// 1/√(1−β2^t), computed in double.
std::array<float, 4> step_rates(double rate, double beta1, double beta2, std::int64_t step);

struct AdamOptions {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
};

/// AdamW as PyTorch computes it: p ← p − lr·wd·p − lr·m̂/(√v̂ + ε). The gradient is first multiplied by `clip`, a []
/// tensor or absent; where that is negative the step is skipped. Parameters and moments change in place; returns the
/// new parameters. Numerics: moments below 1e-30 become 0.
std::vector<Tensor> adamw(std::span<const Slot> slots, Tensor rates, Tensor clip, const AdamOptions& options = {});

/// SET-Adam (Zhang, ECML 2024): with w = √(c²·v̂ + ε), c the cosine between a tensor's v and (1, …, 1),
/// p ← p − lr·m̂/(w − ½ min w). Weight decay is added to the gradient. AttentionX (000, 001 §4.1) uses ε = 1e-18.
std::vector<Tensor> setadam(std::span<const Slot> slots, Tensor rates, Tensor clip, const AdamOptions& options = {});

struct SgdOptions {
    float momentum = 0.0f;
    bool nesterov = false;
};

/// Gradient descent as PyTorch computes it: weight decay is added to the gradient, the first step's buffer is the
/// gradient.
std::vector<Tensor> sgd(std::span<const Slot> slots, Tensor rates, Tensor clip, const SgdOptions& options = {});

}  // namespace vkf
