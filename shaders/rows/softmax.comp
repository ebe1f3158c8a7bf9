// y = softmax(x) over the columns that a row sees; 0 in other columns, and in all columns of a row that sees none.
//
// Shapes: x [rows, WIDTH] with its pitch, y [rows, WIDTH]. Row r is query r mod `queries` of a [queries, WIDTH] matrix:
// attention/attention_mask.glsl. With LENGTHS, its batch row is r / rows_per_length, which has lengths[batch row] valid
// columns. A workgroup takes `per_group` rows one after the other. y may be x: only the lane that
// writes an element reads it.
// Numerics: fp32; exponents are differences from the row's maximum.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/exponential.glsl"
#include "rows/row_registers.glsl"
#include "attention/attention_mask.glsl"

layout(constant_id = 7) const bool LENGTHS = false;

struct RandomBlocks {
    uint random_block;
    uint first_drawer;
    uint drawer;
};
layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer Random { RandomBlocks at[]; };

layout(push_constant) uniform Args {
    In x;
    Out y;
    uint rows;
    uint x_pitch;
    uint queries;
    uint per_group;
    InInt lengths;
    uint rows_per_length;
    Random random;
};

int random_block(int i) { return int(random.at[i].random_block); }
int first_drawer(int block) { return int(random.at[block].first_drawer); }
int drawer(int i) { return int(random.at[i].drawer); }

MaskRow mask_of(uint row) {
    uint columns = WIDTH;
    if (LENGTHS) columns = uint(clamp(lengths.at[row / rows_per_length], 0, int(WIDTH)));
    return MaskRow(queries, columns, int(columns) - int(queries));
}

float seen(uint end, int position, uint c, float value) {
    return c < end && visible(int(c), position) ? value : HIDDEN;
}

vec2 seen(uint end, int position, uint strip, uint k, vec2 value) {
    if (surely_inside(k) && !MASKED && !LENGTHS) return value;
    const uint c = column(strip, k);
    return vec2(seen(end, position, c, value.x), seen(end, position, c + 1, value.y));
}

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    for (uint row = first; row < last; ++row) {
        const uint at = row * x_pitch;
        const MaskRow mask = mask_of(row);
        const uint end = mask.keys;
        const int position = int(row % queries) + mask.shift;
        vec2 v[STRIP];
        float top = LOWEST;
        for (uint s = 0; s < STRIPS; ++s) {
            load_strip(x, at, s, v);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                v[k] = seen(end, position, s, k, v[k]);
                top = larger(v[k].x, larger(v[k].y, top));
            }
        }
        top = group_max(top);

        float sum = 0.0;
        for (uint s = 0; s < STRIPS; ++s) {
            if (STRIPS > 1) load_strip(x, at, s, v);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                if (STRIPS > 1) v[k] = seen(end, position, s, k, v[k]);
                v[k] = vec2(exp_below(v[k].x - top), exp_below(v[k].y - top));
                sum += sum_of(v[k]);
            }
        }
        sum = group_sum(sum);
        const float scale = sum > 0.0 ? 1.0 / sum : 0.0;

        for (uint s = 0; s < STRIPS; ++s) {
            if (STRIPS > 1) load_strip(x, at, s, v);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                if (STRIPS > 1) {
                    v[k] = seen(end, position, s, k, v[k]);
                    v[k] = vec2(exp_below(v[k].x - top), exp_below(v[k].y - top));
                }
                store_pair(y, row * WIDTH, s, k, v[k] * scale);
            }
        }
    }
}
