// row_loss = log Z − (1 − ε) · logits[target] − ε · mean(logits) + z_loss · log²Z, Z = Σ exp(logits), and its gradient
// times d_loss / count, per row:
// d_logits = (softmax(logits) · (1 + 2 · z_loss · log Z) − (1 − ε) · onehot(target) − ε / width) · d_loss / count.
// Both are 0 if the target is negative, even if the row has a NaN. Without GRADIENT only the loss; without HAS_D_LOSS
// d_loss is 1; ε is label_smoothing, or 0 without SMOOTHED.
//
// Shapes: logits and d_logits [rows, width] with their pitch, targets and row_loss [rows], count and d_loss [1]. A
// workgroup takes `per_group` rows one after the other. d_logits may be logits: before any lane writes, all have read
// the row for its sum, and afterwards a lane rereads only elements that it then writes. Packed d_logits must not
// overlap logits; the last pair of an odd width is filled up with 0. A target past the end reads the last column.
// Numerics: fp32; as in loss/loss_gradient.glsl. mean(logits) − max(logits) is added up instead of the mean, because
// the loss is a difference to the row's maximum: no digits are lost if all logits are large.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/exponential.glsl"
#include "loss/loss_gradient.glsl"
#include "lib/vec2_loop.glsl"
#include "loss/log_sum.glsl"

layout(constant_id = 4) const bool GRADIENT = true;
layout(constant_id = 5) const bool HAS_D_LOSS = false;
layout(constant_id = 6) const uint LAYOUT_D = SCALAR;  // layout of d_logits
layout(constant_id = 7) const bool SMOOTHED = false;

layout(push_constant) uniform Args {
    In logits;
    InInt targets;
    In count;
    In d_loss;
    Out row_loss;
    Out d_logits;
    uint rows;
    uint width;
    uint pitch;
    uint per_group;
    float z_loss;
    float label_smoothing;
};

// Stores the last column of an odd width.
void store_last(uint at, float value) {
    store_some(d_logits, at, vec2(value, 0.0), packed(LAYOUT_D), LAYOUT_D);
}

// Sum of the lane's differences to the row's maximum.
float sum_below(float top, uint at, uint columns) {
    float sum = 0.0;
    FOR_PAIRS_IN(0, columns, j) {
        const vec2 x = load_two(logits, at + j, LAYOUT);
        sum += (x.x - top) + (x.y - top);
    }
    if (odd_end(0, columns)) sum += logits.at[at + columns - 1] - top;
    return sum;
}

// Gradient of two logits, of which the target's distribution has `share` in every column.
vec2 smoothed_gradient(LossRow row, float share, uint column, vec2 x) {
    const vec2 d = loss_gradient(row, column, x);
    return SMOOTHED ? d - share : d;
}

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    const uint columns = width;
    for (uint row = first; row < last; ++row) {
        const int target = min(targets.at[row], int(columns) - 1);
        const uint at = row * pitch;
        const LogSum of = log_sum(logits, at, target < 0 ? 0 : columns);
        float chosen = 0.0, below = 0.0;  // logit of the target; Σ (logits − top)
        if (!GRADIENT) {
            chosen = logits.at[at + max(target, 0)];
            if (SMOOTHED && target >= 0) below = sum_below(of.top, at, columns);
        } else if (target < 0) {
            FOR_PAIRS_IN(0, columns, j) store_two(d_logits, at + j, vec2(0.0), LAYOUT_D);
            if (odd_end(0, columns)) store_last(at + columns - 1, 0.0);
        } else {
            const float each = (HAS_D_LOSS ? d_loss.at[0] : 1.0) / count.at[0];
            const float more = z_loss > 0.0 ? 1.0 + 2.0 * z_loss * (of.top + log(of.sum)) : 1.0;
            const float at_target = SMOOTHED ? (1.0 - label_smoothing) * each : each;
            const float share = SMOOTHED ? label_smoothing / float(columns) * each : 0.0;
            const LossRow loss = LossRow(uint(target), of.top, 1.0 / of.sum * each * more, at_target);
            FOR_PAIRS_IN(0, columns, j) {
                const vec2 x = load_two(logits, at + j, LAYOUT);
                store_two(d_logits, at + j, smoothed_gradient(loss, share, j, x), LAYOUT_D);
                if (SMOOTHED) below += (x.x - of.top) + (x.y - of.top);
                chosen = j == loss.target ? x.x : j + 1 == loss.target ? x.y : chosen;
            }
            if (odd_end(0, columns)) {
                const uint j = columns - 1;
                const float x = logits.at[at + j];
                store_last(at + j, smoothed_gradient(loss, share, j, vec2(x, 0.0)).x);
                if (SMOOTHED) below += x - of.top;
                chosen = j == loss.target ? x : chosen;
            }
            chosen = group_sum(chosen);  // from the lane that has it to all
        }
        const float log_z = of.top + log(of.sum);
        const float z_term = z_loss > 0.0 ? z_loss * log_z * log_z : 0.0;
        float target_logit = chosen - of.top;  // less the row's maximum, as `below`
        if (SMOOTHED)
            target_logit = (1.0 - label_smoothing) * target_logit + label_smoothing / float(columns) * group_sum(below);
        if (gl_LocalInvocationID.x == 0) row_loss.at[row] = target < 0 ? 0.0 : log(of.sum) - target_logit + z_term;
    }
}
