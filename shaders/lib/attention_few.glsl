// Register tiles of attention_few.
//
// One subgroup holds ROWS rows of width D ("its rows") with the lanes along D, and meets the rows of
// another matrix SUBGROUP at a time, one per lane. A tile value t[row, lane] is made by dot_rows, where
// its rows are broadcast and each lane reads the row it owns, and spent by add_rows, where t is broadcast
// and the lanes lie along D again. So no value crosses lanes through memory: no shared memory, no
// barrier, any subgroup size. Statistics of its rows (maxima, sums) lie one row to a lane.
//
// Why so: on lavapipe a load costs as much as some ten multiply-adds and a broadcast next to nothing, so
// each load serves all ROWS rows. Every loop over registers must unroll, hence no `break` or `continue`.

#include "lib/attention_options.glsl"

layout(constant_id = 3) const uint ROWS = 4;  // rows a subgroup holds, at most 4

const uint STEP = LAYOUT != SCALAR ? 2 : 1;                         // columns to a load along a row
const uint VEC = LAYOUT != SCALAR && D > SUBGROUP ? 2 : 1;          // adjacent columns to a lane
const uint COLUMNS = SUBGROUP * VEC;                    // columns of a row in one pass over the lanes
const uint CHUNKS = (D + COLUMNS - 1) / COLUMNS * VEC;  // registers for one row
const uint HELD = ROWS * CHUNKS;                        // registers for all its rows
// Lanes that add_rows serves between two turns of the tile: all of them, unless the code grew too long.
const uint AHEAD = D > 64 * STEP && SUBGROUP > 4 ? 4 : SUBGROUP;
const uint STATS = (ROWS + SUBGROUP - 1) / SUBGROUP;    // registers for one number per row
const uint FOLD_ROWS = ROWS > 2 ? 4 : ROWS;
const uint FOLD = FOLD_ROWS < SUBGROUP ? FOLD_ROWS : SUBGROUP;

uint lane() { return gl_SubgroupInvocationID; }

// The column of chunk c that a lane holds; lanes past the end repeat the last column and are not stored.
uint column(uint c) { return min(c / VEC * COLUMNS + lane() * VEC, D - VEC); }

void load_rows(In x, uint base, uint pitch, uint first, uint count, out float rows[HELD]) {
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        uint at = base + min(first + r, count - 1) * pitch;
        [[unroll]] for (uint c = 0; c < CHUNKS; c += VEC) {
            vec2 x2 = load_some(x, at + column(c), VEC == 2, LAYOUT);
            rows[r * CHUNKS + c] = x2.x;
            if (VEC == 2) rows[r * CHUNKS + c + VEC - 1] = x2.y;
        }
    }
}

void store_rows(Out y, uint base, uint pitch, uint first, uint count, float rows[HELD]) {
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        [[unroll]] for (uint c = 0; c < CHUNKS; c += VEC) {
            uint d = c / VEC * COLUMNS + lane() * VEC;
            uint at = base + (first + r) * pitch + d;
            vec2 x = vec2(rows[r * CHUNKS + c], rows[r * CHUNKS + c + VEC - 1]);
            bool own = d < D && first + r < count;
            if (VEC == 1 && packed(LAYOUT)) {  // the neighbour's column is in the same word
                x.y = subgroupShuffleXor(x.x, 1);
                own = own && lane() % 2 == 0;
            }
            if (own) store_some(y, at, x, VEC == 2 || packed(LAYOUT), LAYOUT);
        }
    }
}

// Column d of row r, in all lanes.
float element(float rows[HELD], uint r, uint d) {
    return subgroupBroadcast(rows[r * CHUNKS + d / COLUMNS * VEC + d % VEC], d % COLUMNS / VEC);
}

// tile[r] += <rows[r], x[at ..)>, x being the row this lane owns.
void dot_rows(float rows[HELD], In x, uint at, inout float tile[ROWS]) {
    [[unroll]] for (uint d = 0; d < D; d += STEP) {
        vec2 x2 = load_some(x, at + d, STEP == 2, LAYOUT);
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            tile[r] += element(rows, r, d) * x2.x;
            if (STEP == 2) tile[r] += element(rows, r, d + STEP - 1) * x2.y;
        }
    }
}

// sum[r] += Σ_j tile[r, j] * (row start + j of x). Past the last row of x, tile is 0 and x's last row read.
void add_rows(float tile[ROWS], In x, uint base, uint pitch, uint start, uint count,
              inout float sum[HELD]) {
    [[dont_unroll]] for (uint passed = 0; passed < SUBGROUP; passed += AHEAD) {
        [[unroll]] for (uint j = 0; j < AHEAD; ++j) {
            uint at = base + min(start + passed + j, count - 1) * pitch;
            [[unroll]] for (uint c = 0; c < CHUNKS; c += VEC) {
                vec2 x2 = load_some(x, at + column(c), VEC == 2, LAYOUT);
                [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                    float t = subgroupBroadcast(tile[r], j);
                    sum[r * CHUNKS + c] += t * x2.x;
                    if (VEC == 2) sum[r * CHUNKS + c + VEC - 1] += t * x2.y;
                }
            }
        }
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            if (AHEAD < SUBGROUP) tile[r] = subgroupShuffle(tile[r], (lane() + AHEAD) % SUBGROUP);
    }
}

// The number of row r out of a vector of statistics.
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

// Sum or maximum over the lanes of one value per row, transposed on the way: lane r ends with row r's.
// Each exchange halves the rows, so that a row costs three exchanges at most, not log2 of the lanes.
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
