// o = softmax(scale q kᵀ) v and its components perpendicular to the queries' own values, in one launch: a subgroup
// computes all heads of its rows, one after the other, as attention.comp does, and then projects the rows, as
// project_out.comp does, while they are in its cache.
//
// Shapes: as attention.comp and project_out.comp, all rows in pairs; o [B,T,M·D_V], in fp32, is scratch and may be
// y_rows.
// For CPU devices, whose workgroups are single subgroups.
#version 460
#include "lib/args.glsl"
#include "attention/attention.glsl"
#define WIDTH D_V
#include "attention/project_out.glsl"
#include "lib/own_writes.glsl"

layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer Projections { Projection at[]; };

#define ARGS Out o; Out lse; Projections projection;
#include "attention/attention_args.glsl"
#include "attention/attention_forward.glsl"

void load_o(uint row, uint head, uint strip) {
    Out here = Out(uint64_t(o) + uint64_t((row * HEADS + head) * WIDTH) * 4);
    [[unroll]] for (uint k = 0; k < STRIP; ++k) {
        const uint c = column(strip, k);
        o_s[k] = load_written(here, surely_inside(k) || c < WIDTH ? c : 0, VEC2);
        if (!surely_inside(k) && c >= WIDTH) o_s[k] = vec2(0.0);
    }
}

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint batch = group_index() / blocks;
    if (batch >= batches) return;
    const uint first = balanced_block(group_index() % blocks, blocks) * ROWS;
    [[dont_unroll]] for (uint head = 0; head < HEADS; ++head) {
        float o_tile[OWN];
        attend(batch, head, first, o_tile);
        store_own(o, D_V, batch * queries * HEADS * D_V + head * D_V, HEADS * D_V, first, queries, o_tile, VEC2);
    }
    subgroupMemoryBarrierBuffer();
    project_out(projection.at[0], batch * queries + first, batch * queries + min(first + ROWS, queries));
}
