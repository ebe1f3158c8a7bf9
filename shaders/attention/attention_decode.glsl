// Register tiles of attention_decode.
//
// One subgroup holds ROWS rows ("own rows"), whose columns are spread over the lanes, and reads the rows of another
// matrix SUBGROUP at a time, one per lane. The own rows are of the heads that read one key head: row r is head r %
// GQA_GROUP of query r / GQA_GROUP.
//
// dot_rows computes the tile values t[row, lane]: own rows are broadcast, and each lane reads its row of the other
// matrix. add_rows consumes them: t is broadcast, and the lanes are along the columns again. No value crosses lanes
// through memory: no shared memory, no barrier, any subgroup size. Statistics of the own rows (maxima, sums) are stored
// one row per lane.
//
// Why: on lavapipe a load costs as much as some ten multiply-adds and a broadcast next to nothing, so each load serves
// all ROWS rows. Every loop over registers must unroll, hence no `break` or `continue`. Functions take the rows' width,
// D or D_V, a constant.

#include "attention/attention_options.glsl"

layout(constant_id = 3) const uint ROWS = 4;  // rows per subgroup, at most 4

const uint STEP = LAYOUT != SCALAR ? 2 : 1;  // columns per load along a row

// Adjacent columns per lane, columns of a row in one pass over the lanes, and registers for one row.
uint vec_of(uint width) { return LAYOUT != SCALAR && width > SUBGROUP ? 2 : 1; }
uint columns_of(uint width) { return SUBGROUP * vec_of(width); }
uint chunks_of(uint width) { return (width + columns_of(width) - 1) / columns_of(width) * vec_of(width); }

const uint WIDEST = D > D_V ? D : D_V;
const uint OWN = ROWS * ((WIDEST + SUBGROUP - 1) / SUBGROUP + 1);  // upper bound of registers for all own rows
// Lanes that add_rows handles between two rotations of the tile: all, unless the code would become too long.
const uint AHEAD = D_V > 64 * STEP && SUBGROUP > 4 ? 4 : SUBGROUP;
const uint STATS = (ROWS + SUBGROUP - 1) / SUBGROUP;    // registers for one number per row
const uint FOLD_ROWS = ROWS > 2 ? 4 : ROWS;
const uint FOLD = FOLD_ROWS < SUBGROUP ? FOLD_ROWS : SUBGROUP;

uint lane() { return gl_SubgroupInvocationID; }

// Column of chunk c that a lane holds; lanes past the end repeat the last column and are not stored.
uint column(uint width, uint c) {
    return min(c / vec_of(width) * columns_of(width) + lane() * vec_of(width), width - vec_of(width));
}

// True if the lane's column of chunk c is inside the row, not a repetition.
bool holds(uint width, uint c) {
    return c / vec_of(width) * columns_of(width) + lane() * vec_of(width) + c % vec_of(width) < width;
}

uint query_of(uint row) { return row / GQA_GROUP; }
uint head_of(uint row) { return row % GQA_GROUP; }  // index within the group

// First element of a row in a matrix with a line of heads per query; row 0 begins at `base`.
uint start_of(uint width, uint base, uint pitch, uint row) {
    return base + query_of(row) * pitch + head_of(row) * width;
}

void load_rows(In x, uint width, uint base, uint pitch, uint first, uint count, out float rows[OWN], uint form) {
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        uint at = start_of(width, base, pitch, min(first + r, count - 1));
        [[unroll]] for (uint c = 0; c < chunks_of(width); c += vec_of(width)) {
            vec2 x2 = load_some(x, at + column(width, c), vec_of(width) == 2, form);
            rows[r * chunks_of(width) + c] = x2.x;
            if (vec_of(width) == 2) rows[r * chunks_of(width) + c + vec_of(width) - 1] = x2.y;
        }
    }
}

void load_rows(In x, uint width, uint base, uint pitch, uint first, uint count, out float rows[OWN]) {
    load_rows(x, width, base, pitch, first, count, rows, LAYOUT);
}

void store_sums(Out y, uint width, uint base, uint pitch, uint first, uint count, float rows[OWN], uint form) {
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        [[unroll]] for (uint c = 0; c < chunks_of(width); c += vec_of(width)) {
            uint d = c / vec_of(width) * columns_of(width) + lane() * vec_of(width);
            uint at = start_of(width, base, pitch, first + r) + d;
            vec2 x = vec2(rows[r * chunks_of(width) + c], rows[r * chunks_of(width) + c + vec_of(width) - 1]);
            bool own = d < width && first + r < count;
            if (vec_of(width) == 1 && packed(form)) {  // the neighbour's column is in the same word
                x.y = subgroupShuffleXor(x.x, 1);
                own = own && lane() % 2 == 0;
            }
            if (own) store_some(y, at, x, vec_of(width) == 2 || packed(form), form);
        }
    }
}

// Column d of row r, in all lanes.
float element(uint width, float rows[OWN], uint r, uint d) {
    const uint vec = vec_of(width), chunk = d / columns_of(width) * vec + d % vec;
    return subgroupBroadcast(rows[r * chunks_of(width) + chunk], d % columns_of(width) / vec);
}

// First column of load `i` of a lane's row. The first loads of all cache lines precede the second ones, so that all
// lines are fetched concurrently.
uint column_read(uint width, uint i) {
    const uint line = packed(LAYOUT) ? 32 : 16;  // columns in 64 bytes
    if (width % line != 0) return i * STEP;
    const uint lines = width / line;
    return i % lines * line + i / lines * STEP;
}

// tile[r] += <rows[r], x[at ..)>, where x[at ..) is this lane's row of the other matrix.
void dot_rows(uint width, float rows[OWN], In x, uint at, inout float tile[ROWS]) {
    [[unroll]] for (uint i = 0; i < width / STEP; ++i) {
        const uint d = column_read(width, i);
        vec2 x2 = load_some(x, at + d, STEP == 2, LAYOUT);
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            tile[r] += element(width, rows, r, d) * x2.x;
            if (STEP == 2) tile[r] += element(width, rows, r, d + STEP - 1) * x2.y;
        }
    }
}

// sum[r] += Σ_j tile[r, j] * (row start + j of x). Past the last row of x, tile is 0 and the last row is read.
void add_rows(uint width, float tile[ROWS], In x, uint base, uint pitch, uint start, uint count,
              inout float sum[OWN]) {
    [[dont_unroll]] for (uint passed = 0; passed < SUBGROUP; passed += AHEAD) {
        [[unroll]] for (uint j = 0; j < AHEAD; ++j) {
            uint at = base + min(start + passed + j, count - 1) * pitch;
            [[unroll]] for (uint c = 0; c < chunks_of(width); c += vec_of(width)) {
                vec2 x2 = load_some(x, at + column(width, c), vec_of(width) == 2, LAYOUT);
                [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                    float t = subgroupBroadcast(tile[r], j);
                    sum[r * chunks_of(width) + c] += t * x2.x;
                    if (vec_of(width) == 2) sum[r * chunks_of(width) + c + vec_of(width) - 1] += t * x2.y;
                }
            }
        }
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            if (AHEAD < SUBGROUP) tile[r] = subgroupShuffle(tile[r], (lane() + AHEAD) % SUBGROUP);
    }
}

// Statistic of row r.
float of_row(float stats[STATS], uint r) {
    return subgroupBroadcast(stats[r / SUBGROUP], r % SUBGROUP);
}

uint of_row(uint stats[STATS], uint r) {
    return subgroupBroadcast(stats[r / SUBGROUP], r % SUBGROUP);
}

float join(float a, float b, bool maximum) { return maximum ? max(a, b) : a + b; }

void fold_step(inout float t[FOLD], uint bit, bool maximum) {
    bool upper = (lane() & bit) != 0;
    [[unroll]] for (uint r = 0; r < bit; ++r) {
        float mine = upper ? t[r + bit] : t[r];
        float other = upper ? t[r] : t[r + bit];
        t[r] = join(mine, subgroupShuffleXor(other, bit), maximum);
    }
}

// Sum or maximum over the lanes of one value per row, transposed: lane r gets the result of row r.
// Each exchange halves the rows, so a row costs at most three exchanges, not log2 of the lanes.
void fold(float x[ROWS], bool maximum, out float stats[STATS]) {
    [[unroll]] for (uint v = 0; v < STATS; ++v) {
        float t[FOLD];
        [[unroll]] for (uint r = 0; r < FOLD; ++r) t[r] = x[min(v * SUBGROUP + r, ROWS - 1)];
        if (FOLD >= 4) fold_step(t, 2, maximum);
        if (FOLD >= 2) fold_step(t, 1, maximum);
        float total = t[0];
        [[unroll]] for (uint p = 0; p < 7; ++p) {
            uint bit = 1u << p;
            if (bit >= FOLD && bit < SUBGROUP)
                total = join(total, subgroupShuffleXor(total, bit), maximum);
        }
        stats[v] = total;
    }
}
