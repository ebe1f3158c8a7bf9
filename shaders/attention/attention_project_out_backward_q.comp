// dq of attention_project_out.comp and the inputs of the other gradients: a subgroup computes d_o, delta and the
// gradient of the queries' own values for all heads of its rows, as project_out_backward.comp does, and then dq, one
// head after the other, as attention_backward_q.comp does with g = d_o, while d_o is in its cache.
//
// Shapes: as project_out_backward.comp and attention_backward_q.comp, all rows in pairs. o is absent: delta is computed
// from the perpendicular component.
// For CPU devices, whose workgroups are single subgroups.
#version 460
#include "lib/args.glsl"
#include "attention/attention.glsl"
#define WIDTH D_V
#include "attention/project_out_backward.glsl"
#include "lib/own_writes.glsl"

layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer Gradients { Gradient at[]; };

#define ARGS In o; In lse; Out d_o; Out delta; Out dq; Gradients gradient; uint dq_pitch;
#include "attention/attention_args.glsl"
#include "attention/attention_backward_q.glsl"

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
    const uint first = balanced_block(group_index() % blocks, blocks) * ROWS;
    project_out_backward(gradient.at[0], batch * queries + first, batch * queries + min(first + ROWS, queries));
    subgroupMemoryBarrierBuffer();
    [[dont_unroll]] for (uint head = 0; head < HEADS; ++head) attend_backward_q(batch, head, first);
}
