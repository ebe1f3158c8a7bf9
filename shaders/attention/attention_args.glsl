// Arguments of attention kernels: the kernel's own, defined as ARGS, then the common ones, the mask and dropout. Push
// constants end at 128 bytes, so inputs that only some masks and dropout need are in `optional`, a table
// (runtime/ops/attention/attention_parts.cpp), which is read only if the kernel's constants say that they exist.

struct OptionalInputs {
    InInt seed;  // the addresses are in the first row
    InInt query_lengths;
    InInt key_lengths;
    uint random_block;  // attention/attention_mask.glsl
    uint first_drawer;
    uint drawer;
};
layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer Optional { OptionalInputs at[]; };

layout(push_constant) uniform Args {
    ARGS
    In q;
    In k;
    In v;
    Optional optional;
    uint batches;
    uint queries;  // T, equal for all batch rows
    uint keys;     // S
    uint q_pitch;
    uint k_pitch;
    uint v_pitch;
    float scale;
    float drop;
    uint salt;
};

const float LOG2_E = 1.44269504, LN_2 = 0.693147181;

#include "attention/attention_dropout.glsl"
#include "attention/attention_mask.glsl"

int random_block(int i) { return int(optional.at[i].random_block); }
int first_drawer(int block) { return int(optional.at[block].first_drawer); }
int drawer(int i) { return int(optional.at[i].drawer); }

layout(constant_id = 18) const bool QUERY_LENGTHS = false;  // numbers of valid queries per batch row; else all
layout(constant_id = 19) const uint KEY_LENGTHS = 0;        // valid keys; 0: all, 1: one number, 2: per batch row

MaskRow mask_row(uint batch) {
    MaskRow row = MaskRow(queries, keys, 0);
    if (QUERY_LENGTHS) row.queries = uint(clamp(optional.at[0].query_lengths.at[batch], 0, int(queries)));
    if (KEY_LENGTHS > 0)
        row.keys = uint(clamp(optional.at[0].key_lengths.at[KEY_LENGTHS > 1 ? batch : 0], 0, int(keys)));
    row.shift = int(row.keys) - int(row.queries);
    return row;
}
