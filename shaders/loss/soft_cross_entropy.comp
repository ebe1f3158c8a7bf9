// row_loss = Σ_j targets_j · (log Σ exp(logits) − logits_j) per row: cross-entropy with a weight for every class.
//
// Shapes: logits, targets [rows, width] with their pitches, row_loss [rows]. A workgroup takes `per_group` rows one
// after the other.
// Numerics: fp32; logits are taken relative to the row's maximum, so that no large numbers cancel.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/exponential.glsl"
#include "lib/vec2_loop.glsl"
#include "loss/log_sum.glsl"

layout(constant_id = 4) const uint LAYOUT_TARGETS = SCALAR;

layout(push_constant) uniform Args {
    In logits;
    In targets;
    Out row_loss;
    uint rows;
    uint width;
    uint pitch;
    uint target_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    for (uint row = first; row < last; ++row) {
        const LogSum of = log_sum(logits, row * pitch, width);
        const float log_of_sum = log(of.sum);
        float loss = 0.0;
        FOR_PAIRS_IN(0, width, j) {
            const vec2 x = load_two(logits, row * pitch + j, LAYOUT);
            loss += dot(load_two(targets, row * target_pitch + j, LAYOUT_TARGETS), log_of_sum - (x - of.top));
        }
        if (odd_end(0, width)) {
            const uint j = width - 1;
            loss += targets.at[row * target_pitch + j] * (log_of_sum - (logits.at[row * pitch + j] - of.top));
        }
        loss = group_sum(loss);
        if (gl_LocalInvocationID.x == 0) row_loss.at[row] = loss;
    }
}
