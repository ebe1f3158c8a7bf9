// Attention masks: which keys a query sees, and which ranges of queries and keys meet, as defined in
// runtime/ops/attention/attention_mask.h. Kernels use only these functions. Absent parts of a mask cost nothing,
// because they are constants. Distances and numbers of the pattern are in blocks of MASK_BLOCK positions.

layout(constant_id = 5) const int WINDOW_LEFT = -1;        // blocks before its own that a query sees; -1: all
layout(constant_id = 17) const int WINDOW_RIGHT = -1;       // blocks after its own that it sees; -1: all; causal: 0
layout(constant_id = 6) const bool MASK_DIAGONAL = false;  // hides the key at its position
layout(constant_id = 31) const bool CAUSAL = false;      // hides later keys, if WINDOW_RIGHT = 0 does not hide them all
layout(constant_id = 32) const int DILATION = 1;         // only blocks at multiples of so many from its own
layout(constant_id = 33) const int MASK_BLOCK = 1;       // positions per block
layout(constant_id = 34) const int MASK_BLOCKS = 0;      // blocks of keys
layout(constant_id = 35) const int GLOBAL_FIRST = 0;     // global blocks at the beginning
layout(constant_id = 36) const int GLOBAL_LAST = 0;      // global blocks at the end
layout(constant_id = 37) const int RANDOM_BLOCKS = 0;    // random blocks of each block of queries

const bool MASKED = WINDOW_LEFT >= 0 || WINDOW_RIGHT >= 0 || MASK_DIAGONAL || DILATION > 1;
const bool SPARSE = GLOBAL_FIRST > 0 || GLOBAL_LAST > 0 || RANDOM_BLOCKS > 0;  // blocks may visit more than one range

// Table of random blocks, which the kernel reads: the i-th random block of block b is random_block(b · RANDOM_BLOCKS +
// i), -1 if there is none; the blocks that drew block b are drawer(i) for first_drawer(b) <= i < first_drawer(b + 1).
int random_block(int i);
int first_drawer(int block);
int drawer(int i);

// Numbers of valid queries and keys of a batch row; query i is at position i + shift.
struct MaskRow {
    uint queries;
    uint keys;
    int shift;
};

int block_of(int position) {
    if (MASK_BLOCK == 1) return position;
    return position < 0 ? -((MASK_BLOCK - 1 - position) / MASK_BLOCK) : position / MASK_BLOCK;
}

// True if blocks first … last are global.
bool are_global(int first, int last) {
    return (GLOBAL_FIRST > 0 && last < GLOBAL_FIRST) || (GLOBAL_LAST > 0 && first >= MASK_BLOCKS - GLOBAL_LAST);
}
bool is_global(int block) { return are_global(block, block); }

// True if block `other` is a random block of `own`, which may be outside of the table.
bool drew(int own, int other) {
    bool found = false;
    for (int i = 0; i < RANDOM_BLOCKS; ++i) {
        const bool equal = random_block(clamp(own, 0, MASK_BLOCKS - 1) * RANDOM_BLOCKS + i) == other;
        found = found || equal;
    }
    return own >= 0 && found;
}

// True if the query at `position` sees `key`, both valid.
bool visible(int key, int position) {
    const int other = block_of(key), own = block_of(position);
    bool seen = (WINDOW_LEFT < 0 || other >= own - WINDOW_LEFT) && (WINDOW_RIGHT < 0 || other <= own + WINDOW_RIGHT) &&
                (DILATION == 1 || abs(other - own) % DILATION == 0);  // Vulkan does not define % of negative numbers
    if (SPARSE) seen = seen || is_global(own) || is_global(other);
    if (RANDOM_BLOCKS > 0) seen = seen || drew(own, other);
    return seen && (!CAUSAL || key <= position) && (!MASK_DIAGONAL || key != position);
}

// True only if all queries and keys of a tile are valid and each query sees each key, so that pairs need no check. May
// be false for any tile.
bool all_visible(MaskRow row, uint query, uint query_count, uint key, uint key_count) {
    const int position = int(query) + row.shift, last_position = position + int(query_count) - 1;
    const int first_key = int(key), last_key = first_key + int(key_count) - 1;
    const int own = block_of(position), last_own = block_of(last_position);
    const int other = block_of(first_key), last_other = block_of(last_key);
    bool all = (WINDOW_LEFT < 0 || other >= last_own - WINDOW_LEFT) &&
               (WINDOW_RIGHT < 0 || last_other <= own + WINDOW_RIGHT) && DILATION == 1;
    if (SPARSE) all = all || are_global(own, last_own) || are_global(other, last_other);
    if (RANDOM_BLOCKS > 0 && own == last_own && other == last_other) all = all || drew(own, other);
    return all && query + query_count <= row.queries && key + key_count <= row.keys &&
           (!CAUSAL || last_key <= position) && (!MASK_DIAGONAL || last_key < position || first_key > last_position);
}

// --- Ranges ----------------------------------------------------------------------------------------------------------
//
// A kernel visits the rows of the other side in steps of `step` rows:
//     for (uvec2 range = keys_of(…); range.x < range.y; range = next_keys(range, …))
// visits keys range.x … range.x + step - 1; range.y is the end of those that are visited without a gap. If the mask is
// not SPARSE, there is one range, and its ends are computed once.

// Replaces `best` by the part of [begin, end) that is inside of [from, most), if that begins earlier, or ends later.
void offer(inout ivec2 best, int begin, int end, int from, int most) {
    begin = max(begin, from);
    end = min(end, most);
    if (begin < end && (begin < best.x || (begin == best.x && end > best.y))) best = ivec2(begin, end);
}

// Range in whole steps, so that what the last step visits is not visited again; empty without an offer.
uvec2 in_steps(ivec2 best, int step, int most) {
    return best.x >= most ? uvec2(0) : uvec2(best.x, min(best.x + (best.y - best.x + step - 1) / step * step, most));
}

// First range [x, y) of keys from `from` on that queries first … first + count - 1 visit. All ranges together contain
// all keys that any of them sees.
uvec2 keys_from(int from, MaskRow row, uint first, uint count, uint step) {
    if (first >= row.queries) return uvec2(0);
    const int position = int(first) + row.shift, own = block_of(position);
    int last = int(first + count) + row.shift - 1;
    if (SPARSE) last = min(last, int(row.keys) - 1);
    const int last_own = block_of(last), most = CAUSAL ? clamp(last + 1, 0, int(row.keys)) : int(row.keys);
    const int begin = WINDOW_LEFT < 0 ? 0 : clamp((own - WINDOW_LEFT) * MASK_BLOCK, 0, most);
    const int end = WINDOW_RIGHT < 0 ? most : clamp((last_own + WINDOW_RIGHT + 1) * MASK_BLOCK, 0, most);
    if (!SPARSE) return uvec2(begin, end);

    ivec2 best = ivec2(most);
    if (is_global(own) || is_global(last_own)) offer(best, 0, most, from, most);
    offer(best, 0, GLOBAL_FIRST * MASK_BLOCK, from, most);
    offer(best, begin, end, from, most);
    offer(best, (MASK_BLOCKS - GLOBAL_LAST) * MASK_BLOCK, most, from, most);
    if (RANDOM_BLOCKS > 0)
        for (int i = max(own, 0) * RANDOM_BLOCKS; i < (last_own + 1) * RANDOM_BLOCKS; ++i) {
            const int other = random_block(i);
            offer(best, other * MASK_BLOCK, (other + 1) * MASK_BLOCK, from, most);
        }
    return in_steps(best, int(step), int(row.keys));
}

uvec2 keys_of(MaskRow row, uint first, uint count, uint step) { return keys_from(0, row, first, count, step); }

uvec2 next_keys(uvec2 range, MaskRow row, uint first, uint count, uint step) {
    range.x += step;
    return SPARSE && range.x >= range.y ? keys_from(int(range.y), row, first, count, step) : range;
}

// First range [x, y) of queries from `from` on that keys first … first + count - 1 meet. All ranges together contain
// all queries that see any of them.
uvec2 queries_from(int from, MaskRow row, uint first, uint count, uint step) {
    if (first >= row.keys) return uvec2(0);
    const int own = block_of(int(first)), most = int(row.queries);
    const int least = CAUSAL ? clamp(int(first) - row.shift, 0, most) : 0;
    const int last = SPARSE ? int(min(first + count, row.keys)) - 1 : int(first + count) - 1, last_own = block_of(last);
    const int begin = WINDOW_RIGHT < 0 ? least : clamp((own - WINDOW_RIGHT) * MASK_BLOCK - row.shift, least, most);
    const int end = WINDOW_LEFT < 0 ? most : clamp((last_own + WINDOW_LEFT + 1) * MASK_BLOCK - row.shift, least, most);
    if (!SPARSE) return uvec2(begin, end);

    ivec2 best = ivec2(most);
    from = max(from, least);
    if (is_global(own) || is_global(last_own)) offer(best, 0, most, from, most);
    if (GLOBAL_FIRST > 0) offer(best, 0, GLOBAL_FIRST * MASK_BLOCK - row.shift, from, most);
    offer(best, begin, end, from, most);
    if (GLOBAL_LAST > 0) offer(best, (MASK_BLOCKS - GLOBAL_LAST) * MASK_BLOCK - row.shift, most, from, most);
    if (RANDOM_BLOCKS > 0)
        for (int i = first_drawer(own); i < first_drawer(last_own + 1); ++i) {
            const int begin_of_drawer = drawer(i) * MASK_BLOCK - row.shift;
            offer(best, begin_of_drawer, begin_of_drawer + MASK_BLOCK, from, most);
        }
    return in_steps(best, int(step), most);
}

uvec2 queries_of(MaskRow row, uint first, uint count, uint step) { return queries_from(0, row, first, count, step); }

uvec2 next_queries(uvec2 range, MaskRow row, uint first, uint count, uint step) {
    range.x += step;
    return SPARSE && range.x >= range.y ? queries_from(int(range.y), row, first, count, step) : range;
}

// True if a query sees one key only. The key's probability is 1 for any logit, so the logit's gradient is 0; <g, v> and
// delta are equal, and the rounding noise of their difference is discarded. May be false for any query.
bool sees_one_key(MaskRow row, int position) {
    if (SPARSE || MASK_BLOCK > 1) return CAUSAL && position == 0 && !MASK_DIAGONAL;
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
