#version 460
// Makes room for `fresh` positions in keys and values [B, rows, …], in place, so that sequence b has lengths[b]
// positions: with d(n) = step · ⌈max(n − rows, 0) / step⌉, state[b, s] = state[b, s + d(n) − d(n − fresh)] for n =
// lengths[b] and first ≤ s < n − fresh − d(n). rows_filled[b] = n − d(n). Words have 32 bits, and are one or two
// numbers of any format.
//
// Workgroups have GROUP neighbouring words of all rows of a sequence: those of keys first, then those of values. A lane
// moves one word of each row, from the first row to the last. No other lane reads or writes these words, so the order
// of lanes does not matter.
#include "lib/args.glsl"

// Reads and writes go through one reference. If there were two, the compiler might move a read behind a write.
REFERENCE buffer RollWords { uint at[]; };

layout(push_constant) uniform Args {
    RollWords keys;
    RollWords values;
    InInt lengths;
    OutInt rows_filled;
    uint batches;  // B
    uint shares;   // workgroups of a sequence
    uint rows;
    uint first;
    uint step;
    uint fresh;
    uint key_words;  // of a row
    uint value_words;
};

int dropped(int length) {
    return length <= int(rows) ? 0 : (length - int(rows) + int(step) - 1) / int(step) * int(step);
}

void move(RollWords state, uint words, uint b, uint word, int distance, int end) {
    if (word >= words) return;
    for (int row = int(first); row < end; ++row) {
        const uint to = (b * rows + uint(row)) * words + word;
        state.at[to] = state.at[to + uint(distance) * words];
    }
}

void main() {
    const uint share = group_index() % shares, b = group_index() / shares % batches;
    const bool of_values = group_index() >= batches * shares;
    if (group_index() >= 2 * batches * shares) return;
    const int length = lengths.at[b], all = dropped(length);
    if (!of_values && share == 0 && gl_LocalInvocationID.x == 0) rows_filled.at[b] = length - all;
    const int distance = all - dropped(length - int(fresh)), end = min(length - int(fresh) - all, int(rows) - distance);
    if (distance == 0) return;
    const uint word = share * GROUP + gl_LocalInvocationID.x;
    if (of_values)
        move(values, value_words, b, word, distance, end);
    else
        move(keys, key_words, b, word, distance, end);
}
