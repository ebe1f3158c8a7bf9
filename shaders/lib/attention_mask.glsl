// Who sees whom, and which blocks of queries and keys meet: what runtime/ops/attention_mask.h says, for kernels. They
// ask nobody else. What a mask does not have costs nothing: its constants say so.

layout(constant_id = 5) const int WINDOW_LEFT = -1;        // keys before its position that a query sees; -1: all
layout(constant_id = 17) const int WINDOW_RIGHT = -1;       // and keys after it; causal: 0
layout(constant_id = 6) const bool MASK_DIAGONAL = false;  // but not the key at its position

const bool MASKED = WINDOW_LEFT >= 0 || WINDOW_RIGHT >= 0 || MASK_DIAGONAL;

// How many queries and keys of a batch row count; query i stands at position i + shift.
struct MaskRow {
    uint queries;
    uint keys;
    int shift;
};

// Of a query and a key that count.
bool visible(int key, int position) {
    return (WINDOW_LEFT < 0 || key >= position - WINDOW_LEFT) && (WINDOW_RIGHT < 0 || key <= position + WINDOW_RIGHT) &&
           (!MASK_DIAGONAL || key != position);
}

// True only where all of these queries and keys count and each query sees each key: then nobody need ask about their
// pairs. It may be false of any block.
bool all_visible(MaskRow row, uint query, uint query_count, uint key, uint key_count) {
    const int position = int(query) + row.shift, last_position = position + int(query_count) - 1;
    const int first_key = int(key), last_key = first_key + int(key_count) - 1;
    return query + query_count <= row.queries && key + key_count <= row.keys &&
           (WINDOW_LEFT < 0 || first_key >= last_position - WINDOW_LEFT) &&
           (WINDOW_RIGHT < 0 || last_key <= position + WINDOW_RIGHT) &&
           (!MASK_DIAGONAL || last_key < position || first_key > last_position);
}

// The keys [x, y) that queries first … first + count - 1 visit: no other is seen by one of them.
uvec2 keys_of(MaskRow row, uint first, uint count) {
    if (first >= row.queries) return uvec2(0);
    const int most = int(row.keys);
    return uvec2(WINDOW_LEFT < 0 ? 0 : clamp(int(first) + row.shift - WINDOW_LEFT, 0, most),
                 WINDOW_RIGHT < 0 ? most : clamp(int(first + count) + row.shift + WINDOW_RIGHT, 0, most));
}

// The queries [x, y) that keys first … first + count - 1 meet: no other sees one of them.
uvec2 queries_of(MaskRow row, uint first, uint count) {
    if (first >= row.keys) return uvec2(0);
    const int most = int(row.queries);
    return uvec2(WINDOW_RIGHT < 0 ? 0 : clamp(int(first) - row.shift - WINDOW_RIGHT, 0, most),
                 WINDOW_LEFT < 0 ? most : clamp(int(first + count) - row.shift + WINDOW_LEFT, 0, most));
}

// Whether a query sees one key only: its probability is 1 whatever the logit, so no gradient flows through it, and
// <g, v> - delta, which are equal, must not leave rounding noise there.
bool lone(MaskRow row, int position) {
    const int first = WINDOW_LEFT < 0 ? 0 : max(position - WINDOW_LEFT, 0);
    int last = int(row.keys) - 1;
    if (WINDOW_RIGHT == 0) last = position;  // is a key
    if (WINDOW_RIGHT > 0) last = min(position + WINDOW_RIGHT, last);
    const bool hidden = MASK_DIAGONAL && first <= position && position <= last;
    return last - first == (hidden ? 1 : 0);
}

// Heavy and light blocks alternate where one end of the rows sees more, so that any contiguous share of the grid is
// equal work.
uint fair_block(uint i, uint blocks) {
    if ((WINDOW_LEFT < 0) == (WINDOW_RIGHT < 0)) return i;
    return (i & 1) != 0 ? blocks - 1 - i / 2 : i / 2;
}
