// row_loss = log Σ exp(logits) − logits[target] and d_logits = (softmax(logits) − onehot(target)) · d_loss / count per
// row; zeros where the target is negative: nothing in such a row counts, not even a NaN. Without GRADIENT only the
// loss; without SEEDED d_loss is 1.
//
// Shapes: logits and d_logits [rows, width] with their pitch, targets and row_loss [rows], count and d_loss [1]. A
// workgroup takes `per_group` rows one after the other. d_logits may be logits: when a lane writes, all have read the
// row for its sum, and each reads again only what it then writes. A target past the end means the last column.
// Numerics: fp32; softmax = exp(logits − max) / Σ exp(logits − max), zero below e^-69 of the row's largest.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/exponential.glsl"
#include "lib/log_sum.glsl"

layout(constant_id = 3) const bool GRADIENT = true;
layout(constant_id = 4) const bool SEEDED = false;

layout(push_constant, scalar) uniform Args {
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
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    for (uint row = first; row < last; ++row) {
        const int target = min(targets.at[row], int(width) - 1);
        const uint at = row * pitch;
        const LogSum of = log_sum(logits, at, target < 0 ? 0 : width, width);
        float chosen = 0.0;
        if (!GRADIENT) {
            chosen = logits.at[at + max(target, 0)];
        } else if (target < 0) {
            for (uint j = gl_LocalInvocationID.x; j < width; j += GROUP) d_logits.at[at + j] = 0.0;
        } else {
            const float each = (SEEDED ? d_loss.at[0] : 1.0) / count.at[0];
            const float scale = 1.0 / of.sum * each;
            for (uint j = gl_LocalInvocationID.x; j < width; j += GROUP) {
                const float x = logits.at[at + j];
                const float p = exp_below(x - of.top) * scale;
                const bool right = j == uint(target);
                d_logits.at[at + j] = right ? p - each : p;
                chosen = right ? x : chosen;
            }
            chosen = group_sum(chosen);  // of the lane that has it
        }
        if (gl_LocalInvocationID.x == 0) row_loss.at[row] = target < 0 ? 0.0 : log(of.sum) - (chosen - of.top);
    }
}
