// d_logits = (softmax(logits) − onehot(target)) · d_loss / count in rows with a target, 0 in the others.
//
// Shapes: logits [rows, width] with its pitch, d_logits [rows, width], targets, top and inverse [rows], count and
// d_loss [1]. A workgroup takes `per_group` rows one after the other. d_logits may be logits: only the lane that writes
// an element reads it.
// Numerics: fp32; as in loss/loss_gradient.glsl.
#version 460
#include "lib/args.glsl"
#include "lib/exponential.glsl"
#include "loss/loss_gradient.glsl"
#include "lib/vec2_loop.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;  // layout of logits, whose rows may start at odd elements

layout(push_constant) uniform Args {
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
        const uint from = row * pitch, into = row * width;
        if (target < 0) {
            for (uint j = gl_LocalInvocationID.x; j < width; j += GROUP) d_logits.at[into + j] = 0.0;
            continue;
        }
        const LossRow loss = LossRow(uint(target), top.at[row], inverse.at[row] * each, each);
        const uint lead = min(lead_of(from, LAYOUT), width);
        FOR_PAIRS_IN(0, width - lead, i) {
            const uint j = lead + i;
            store_two(d_logits, into + j, loss_gradient(loss, j, load_two(logits, from + j, LAYOUT)), SCALAR);
        }
        if (lead != 0 && gl_LocalInvocationID.x == 0)
            d_logits.at[into] = loss_gradient(loss, 0, vec2(logits.at[from], 0.0)).x;
        if (odd_end(lead, width)) {
            const uint j = width - 1;
            d_logits.at[into + j] = loss_gradient(loss, j, vec2(logits.at[from + j], 0.0)).x;
        }
    }
}
