// loss = Σ row_loss / count, where count is the number of rows with a target; 0 if count is 0.
//
// One workgroup. Numerics: a lane adds up runs of 32 before it adds them to its sum, so the error grows
// with rows / (32 · GROUP).
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"

layout(push_constant) uniform Args {
    In row_loss;
    InInt targets;
    Out loss;
    Out count;
    uint rows;
};

void main() {
    if (group_index() > 0) return;
    float sum = 0.0, counted = 0.0;  // counted: whole numbers, exact up to 2^24
    for (uint start = gl_LocalInvocationID.x; start < rows; start += 32 * GROUP) {
        float run = 0.0;
        const uint end = min(start + 32 * GROUP, rows);
        for (uint row = start; row < end; row += GROUP) {
            run += row_loss.at[row];
            counted += targets.at[row] >= 0 ? 1.0 : 0.0;
        }
        sum += run;
    }
    sum = group_sum(sum);
    counted = group_sum(counted);
    if (gl_LocalInvocationID.x != 0) return;
    loss.at[0] = counted > 0.0 ? sum / counted : 0.0;
    count.at[0] = counted;
}
