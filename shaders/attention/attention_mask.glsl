// Attention masks: which keys a query sees, and which blocks of queries and keys meet, as defined in
// runtime/ops/attention/attention_mask.h. Kernels use only these functions. Absent parts of a mask cost nothing,
// because they are constants.

layout(constant_id = 5) const int WINDOW_LEFT = -1;        // keys before its position that a query sees; -1: all
layout(constant_id = 17) const int WINDOW_RIGHT = -1;       // keys after its position that it sees; -1: all; causal: 0
layout(constant_id = 6) const bool MASK_DIAGONAL = false;  // hides the key at its position

const bool MASKED = WINDOW_LEFT >= 0 || WINDOW_RIGHT >= 0 || MASK_DIAGONAL;

// Numbers of valid queries and keys of a batch row; query i is at position i + shift.
struct MaskRow {
    uint queries;
    uint keys;
    int shift;
};

// True if the query at `position` sees `key`, both valid.
bool visible(int key, int position) {
    return (WINDOW_LEFT < 0 || key >= position - WINDOW_LEFT) && (WINDOW_RIGHT < 0 || key <= position + WINDOW_RIGHT) &&
           (!MASK_DIAGONAL || key != position);
}

// True only if all queries and keys of a block are valid and each query sees each key, so that pairs need no check. May
// be false for any block.
bool all_visible(MaskRow row, uint query, uint query_count, uint key, uint key_count) {
    const int position = int(query) + row.shift, last_position = position + int(query_count) - 1;
    const int first_key = int(key), last_key = first_key + int(key_count) - 1;
    return query + query_count <= row.queries && key + key_count <= row.keys &&
           (WINDOW_LEFT < 0 || first_key >= last_position - WINDOW_LEFT) &&
           (WINDOW_RIGHT < 0 || last_key <= position + WINDOW_RIGHT) &&
           (!MASK_DIAGONAL || last_key < position || first_key > last_position);
}

// Range [x, y) of keys that queries first … first + count - 1 visit; contains all keys that any of them sees.
uvec2 keys_of(MaskRow row, uint first, uint count) {
    if (first >= row.queries) return uvec2(0);
    const int most = int(row.keys);
    return uvec2(WINDOW_LEFT < 0 ? 0 : clamp(int(first) + row.shift - WINDOW_LEFT, 0, most),
                 WINDOW_RIGHT < 0 ? most : clamp(int(first + count) + row.shift + WINDOW_RIGHT, 0, most));
}

// Range [x, y) of queries that keys first … first + count - 1 meet; contains all queries that see any of them.
uvec2 queries_of(MaskRow row, uint first, uint count) {
    if (first >= row.keys) return uvec2(0);
    const int most = int(row.queries);
    return uvec2(WINDOW_RIGHT < 0 ? 0 : clamp(int(first) - row.shift - WINDOW_RIGHT, 0, most),
                 WINDOW_LEFT < 0 ? most : clamp(int(first + count) - row.shift + WINDOW_LEFT, 0, most));
}

// True if a query sees one key only. The key's probability is 1 for any logit, so the logit's gradient is 0; <g, v> and
// delta are equal, and the rounding noise of their difference is discarded.
bool sees_one_key(MaskRow row, int position) {
    const int first = WINDOW_LEFT < 0 ? 0 : max(position - WINDOW_LEFT, 0);
    int last = int(row.keys) - 1;
    if (WINDOW_RIGHT == 0) last = position;  // always a key
    if (WINDOW_RIGHT > 0) last = min(position + WINDOW_RIGHT, last);
    const bool hidden = MASK_DIAGONAL && first <= position && position <= last;
    return last - first == (hidden ? 1 : 0);
}

// Index of the i-th block to compute. If rows at one end see more, heavy and light blocks alternate, so that contiguous
// shares of the grid are equal work.
uint balanced_block(uint i, uint blocks) {
    if ((WINDOW_LEFT < 0) == (WINDOW_RIGHT < 0)) return i;
    return (i & 1) != 0 ? blocks - 1 - i / 2 : i / 2;
}
