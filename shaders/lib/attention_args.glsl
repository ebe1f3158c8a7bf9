// The arguments of an attention kernel: its own, which it defines as ARGS, then those that all have in common, the mask
// and dropout. Push constants end at 128 bytes: what only some masks need lies behind `optional`, a table of one row
// (runtime/ops/attention.cpp), and is read only where the kernel's constants say that it is there.

struct OptionalInputs {
    InInt seed;
    InInt query_lengths;
    InInt key_lengths;
};
layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer Optional { OptionalInputs at[]; };

layout(push_constant) uniform Args {
    ARGS
    In q;
    In k;
    In v;
    Optional optional;
    uint batches;
    uint queries;  // T, of all batch rows
    uint keys;     // S
    uint q_pitch;
    uint k_pitch;
    uint v_pitch;
    float scale;
    float drop;
    uint salt;
};

const float LOG2_E = 1.44269504, LN_2 = 0.693147181;

#include "lib/attention_dropout.glsl"
#include "lib/attention_mask.glsl"

layout(constant_id = 18) const bool QUERY_LENGTHS = false;  // how many queries of each batch row count; else all
layout(constant_id = 19) const uint KEY_LENGTHS = 0;        // and keys; 0: all, 1: one number for all batch rows

MaskRow mask_row(uint batch) {
    MaskRow row = MaskRow(queries, keys, 0);
    if (QUERY_LENGTHS) row.queries = uint(clamp(optional.at[0].query_lengths.at[batch], 0, int(queries)));
    if (KEY_LENGTHS > 0)
        row.keys = uint(clamp(optional.at[0].key_lengths.at[KEY_LENGTHS > 1 ? batch : 0], 0, int(keys)));
    row.shift = int(row.keys) - int(row.queries);
    return row;
}
