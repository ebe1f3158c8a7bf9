#version 460
// y = xᵀ + bias + addend, fully unrolled, for CPU devices that combine loads to vectors (lib/uniform_loads.glsl).
//
// Shapes: x [rows, columns], y and addend [columns, rows], bias [rows]; y, addend and bias may be columns of wider
//   tensors; *_pitch elements between rows. addend may be y. rows is at least ROWS, columns at least COLUMNS.
// Owner: a workgroup of one subgroup has a tile of ROWS · COLUMNS: the lanes are along x's columns, which are loaded as
//   vectors; each lane then stores a row of y by pairs. The last tile in each direction begins early enough to be
//   whole; its overlap with the tile before is computed but not stored.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const bool BIAS = false;
layout(constant_id = 3) const bool ADDEND = false;
layout(constant_id = 7) const uint ROWS = 16;  // even
layout(constant_id = 8) const uint VECTORS = 4;
layout(constant_id = 20) const uint LAYOUT_Y = SCALAR;  // pairs along rows
layout(constant_id = 21) const uint LAYOUT_ADDEND = SCALAR;

const uint COLUMNS = VECTORS * SUBGROUP;

layout(push_constant) uniform Args {
    In x;
    In bias;
    In addend;
    Out y;
    uint rows;
    uint columns;
    uint x_pitch;
    uint y_pitch;
    uint addend_pitch;
    uint first;  // column of y, bias and addend that belongs to x's first row
    float tiles_down;  // 1 / tiles below each other
    uint digits[4];
};

#include "lib/uniform_loads.glsl"

void main() {
    const uint lane = gl_SubgroupInvocationID, group = known_uniform(group_index(), 18);
    const uint down = (rows + ROWS - 1) / ROWS, across = uint((float(group) + 0.5) * tiles_down);
    const uint row_begin = (group - across * down) * ROWS, column_begin = across * COLUMNS;
    const uint row0 = min(row_begin, rows - ROWS), column0 = min(column_begin, columns - COLUMNS);

    float loaded[ROWS * VECTORS];
    In row = from(x, row0 * x_pitch + column0);
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        const float shift = BIAS ? from(bias, first + row0).at[r] : 0.0;
        [[unroll]] for (uint v = 0; v < VECTORS; ++v)
            loaded[r * VECTORS + v] = load_lanes(row, v * SUBGROUP, SUBGROUP) + shift;
        row = from(row, x_pitch);
    }
    [[unroll]] for (uint v = 0; v < VECTORS; ++v) {
        const uint column = column0 + v * SUBGROUP + lane;
        [[unroll]] for (uint r = 0; r < ROWS; r += 2) {
            vec2 pair = vec2(loaded[r * VECTORS + v], loaded[(r + 1) * VECTORS + v]);
            if (column < column_begin || row0 + r + 1 < row_begin) continue;
            if (ADDEND) {
                const uint at = column * addend_pitch + first + row0 + r;
                pair += load_two(addend, at, LAYOUT_ADDEND);
            }
            const uint at = column * y_pitch + first + row0 + r;
            if (LAYOUT_Y == SCALAR && row0 + r < row_begin)
                y.at[at + 1] = pair.y;
            else
                store_two(y, at, pair, LAYOUT_Y);
        }
    }
}
