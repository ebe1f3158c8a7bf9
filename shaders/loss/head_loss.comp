// row_loss = log Z − logits[target] + z_loss · log²Z, Z = Σ exp(logits), and its gradient times d_loss / count,
// d_logits = (softmax(logits) · (1 + 2 · z_loss · log Z) − onehot(target)) · d_loss / count, per row; both 0 if the
// target is negative, even if the row has a NaN. Without GRADIENT only the loss; without HAS_D_LOSS d_loss is 1.
//
// Shapes: logits and d_logits [rows, width] with their pitch, targets and row_loss [rows], count and d_loss [1]. A
// workgroup takes `per_group` rows one after the other. d_logits may be logits: before any lane writes, all have read
// the row for its sum, and afterwards a lane rereads only elements that it then writes. Packed d_logits must not
// overlap logits; the last pair of an odd width is filled up with 0. A target past the end reads the last column.
// Numerics: fp32; as in loss/loss_gradient.glsl.
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
};

// Stores the last column of an odd width.
void store_last(uint at, float value) {
    store_some(d_logits, at, vec2(value, 0.0), packed(LAYOUT_D), LAYOUT_D);
}

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    const uint columns = width;
    for (uint row = first; row < last; ++row) {
        const int target = min(targets.at[row], int(columns) - 1);
        const uint at = row * pitch;
        const LogSum of = log_sum(logits, at, target < 0 ? 0 : columns);
        float chosen = 0.0;
        if (!GRADIENT) {
            chosen = logits.at[at + max(target, 0)];
        } else if (target < 0) {
            FOR_PAIRS_IN(0, columns, j) store_two(d_logits, at + j, vec2(0.0), LAYOUT_D);
            if (odd_end(0, columns)) store_last(at + columns - 1, 0.0);
        } else {
            const float each = (HAS_D_LOSS ? d_loss.at[0] : 1.0) / count.at[0];
            const float more = z_loss > 0.0 ? 1.0 + 2.0 * z_loss * (of.top + log(of.sum)) : 1.0;
            const LossRow loss = LossRow(uint(target), of.top, 1.0 / of.sum * each * more, each);
            FOR_PAIRS_IN(0, columns, j) {
                const vec2 x = load_two(logits, at + j, LAYOUT);
                store_two(d_logits, at + j, loss_gradient(loss, j, x), LAYOUT_D);
                chosen = j == loss.target ? x.x : j + 1 == loss.target ? x.y : chosen;
            }
            if (odd_end(0, columns)) {
                const uint j = columns - 1;
                const float x = logits.at[at + j];
                store_last(at + j, loss_gradient(loss, j, vec2(x, 0.0)).x);
                chosen = j == loss.target ? x : chosen;
            }
            chosen = group_sum(chosen);  // from the lane that has it to all
        }
        const float log_z = of.top + log(of.sum);
        const float z_term = z_loss > 0.0 ? z_loss * log_z * log_z : 0.0;
        if (gl_LocalInvocationID.x == 0)
            row_loss.at[row] = target < 0 ? 0.0 : log(of.sum) - (chosen - of.top) + z_term;
    }
}
