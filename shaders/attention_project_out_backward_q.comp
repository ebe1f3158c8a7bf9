// dq of attention whose o is projected on the queries' own values, and what the other gradients need: a subgroup makes
// d_o, delta and the own values' gradient of all heads of its rows, as project_out_backward.comp does, and then dq, one
// head after the other, as attention_backward_q.comp does with g = d_o. They are still in its cache then.
//
// Shapes: as there, all rows in pairs. o is absent: delta is made from what is left of it.
// For CPU devices, whose workgroups are single subgroups.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"
#define WIDTH D_V
#include "lib/project_out_backward.glsl"
#include "lib/own_writes.glsl"

layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer Gradients { Gradient at[]; };

#define ARGS In o; In lse; Out d_o; Out delta; Out dq; Gradients gradient; uint dq_pitch;
#include "lib/attention_args.glsl"
#include "lib/attention_backward_q.glsl"

void load_g(uint base, uint first, out float g_tile[OWN]) {
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        Out here = row_out(d_o, base + min(own_row(first, r), queries - 1) * HEADS * D_V);
        [[unroll]] for (uint d = 0; d < D_V; d += 2) {
            const vec2 pair = load_written(here, d, LAYOUT);
            g_tile[r * D_V + d] = pair.x;
            g_tile[r * D_V + d + 1] = pair.y;
        }
    }
}
float load_delta(uint at) { return uintBitsToFloat(WrittenWord(delta).at[at]); }

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint batch = group_index() / blocks;
    if (batch >= batches) return;
    const uint first = fair_block(group_index() % blocks, blocks) * ROWS;
    project_out_backward(gradient.at[0], batch * queries + first, batch * queries + min(first + ROWS, queries));
    subgroupMemoryBarrierBuffer();
    [[dont_unroll]] for (uint head = 0; head < HEADS; ++head) attend_backward_q(batch, head, first);
}
