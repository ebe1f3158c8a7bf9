// row_loss = log Σ exp(logits) − logits[target] per row; 0 if the target is negative, even if the row has a NaN.
//
// Shapes: logits [rows, width] with its pitch, targets, row_loss, top and inverse [rows]. A workgroup takes `per_group`
// rows one after the other. A target past the end reads the last column.
// Saves: top = max(logits) and inverse = 1 / Σ exp(logits − top), from which the gradient is computed without
// cancellation; inverse = 0 in rows without a target.
// Numerics: fp32; each logit is read once; row_loss = log Σ exp(logits − top) − (logits[target] − top).
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/exponential.glsl"
#include "lib/vec2_loop.glsl"
#include "loss/log_sum.glsl"

layout(push_constant) uniform Args {
    In logits;
    InInt targets;
    Out row_loss;
    Out top;
    Out inverse;
    uint rows;
    uint width;
    uint pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    const uint columns = width;
    for (uint row = first; row < last; ++row) {
        const int target = min(targets.at[row], int(columns) - 1);
        const LogSum of = log_sum(logits, row * pitch, target < 0 ? 0 : columns);
        if (gl_LocalInvocationID.x != 0) continue;
        const float chosen = logits.at[row * pitch + max(target, 0)];
        row_loss.at[row] = target < 0 ? 0.0 : log(of.sum) - (chosen - of.top);
        top.at[row] = of.top;
        inverse.at[row] = target < 0 ? 0.0 : 1.0 / of.sum;
    }
}
