// d_logits = (softmax(logits) − onehot(target)) · d_loss / count per row with a target, zeros in the others.
//
// Shapes: logits [rows, width] with its pitch, d_logits [rows, width], targets, top and inverse
// [rows], count and d_loss [1]. A workgroup takes `per_group` rows one after the other. d_logits
// may be logits: a lane writes what only it has read.
// Numerics: fp32; softmax = exp(logits − top) · inverse, zero below e^-69 of the row's largest.
#version 460
#include "lib/args.glsl"
#include "lib/exponential.glsl"

layout(push_constant, scalar) uniform Args {
    In logits;
    InInt targets;
    In top;
    In inverse;
    In count;
    In d_loss;
    Out d_logits;
    uint rows;
    uint width;
    uint pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    const float counted = count.at[0];
    const float each = counted > 0.0 ? d_loss.at[0] / counted : 0.0;
    for (uint row = first; row < last; ++row) {
        const int target = min(targets.at[row], int(width) - 1);
        const float highest = top.at[row];
        const float scale = inverse.at[row] * each;
        const uint at = row * width;
        if (target < 0) {
            for (uint j = gl_LocalInvocationID.x; j < width; j += GROUP) d_logits.at[at + j] = 0.0;
            continue;
        }
        for (uint j = gl_LocalInvocationID.x; j < width; j += GROUP) {
            const float p = exp_below(logits.at[row * pitch + j] - highest) * scale;
            d_logits.at[at + j] = j == uint(target) ? p - each : p;
        }
    }
}
