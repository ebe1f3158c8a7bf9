#version 460
// y = activation(alpha · op(a) · op(b) + bias) + aux for a batch of matrices, or (alpha · op(a) · op(b) + bias) ·
// activation'(aux); op is the identity or the transpose. With ROW_SCALE the rows of a have factors, which multiply rows
// of y except an added aux, or, if a is transposed, the terms of the sums. Each tile of y is in the registers of one
// subgroup: no shared memory, no barrier. For CPU devices; correct on all.
//
// Shapes: a [batches, m, k] ([batches, k, m] if TRANSPOSE_A), b [batches, k, n] ([batches, n, k] if
//   TRANSPOSE_B), y and aux [batches, m, n], bias [n]; *_pitch elements between rows, *_batch
//   between matrices, row_scale one factor per rows_per_scale rows. aux may be y itself.
// Split: with splits > 1 the k axis is cut into chunks and y holds one partial product per chunk,
//   [batches · splits, m, n], which matmul_sum adds up.
// Owner: a workgroup is one subgroup and has a tile of ROW_BLOCKS · SUBGROUP rows; lane l owns the columns 2 l and
//   2 l + 1 of each of PAIRS stripes of 2 · SUBGROUP columns. Per STEP of k each lane loads its columns of b and its
//   share of a, which subgroupBroadcast sends to all lanes.
// Numerics: fp32, each element one running sum in ascending k.
//
// Why: on lavapipe a load of any width costs as much as hundreds of multiply-adds, so adjacent pairs are loaded as one
// 64-bit integer (LAYOUT_*), and the tile's perimeter is kept small.
#include "matmul/matmul.glsl"
#include "matmul/matmul_vec2.glsl"

layout(constant_id = 7) const uint ROW_BLOCKS = 2;
layout(constant_id = 8) const uint PAIRS = 2;
layout(constant_id = 9) const uint STEP = 4;      // even
layout(constant_id = 10) const bool TAIL = true;  // k or its chunks are not multiples of STEP

const uint ROWS = ROW_BLOCKS * SUBGROUP;
const uint COLUMNS = PAIRS * SUBGROUP * 2;
const uint STEP_PAIRS = STEP / 2;

vec2 sum[ROWS * PAIRS];  // the tile

// Adds the terms [k_begin, k_end), with elements of a multiplied by `factor`.
void add_terms(uint batch, uint row0, uint column0, uint k_begin, uint k_end, float factor) {
    const uint lane = gl_SubgroupInvocationID;
    const uint k_step_end = TAIL ? k_begin + (k_end - k_begin) / STEP * STEP : k_end;

    // Rows and columns past the edge repeat the last ones and are never stored.
    uint a_at[ROW_BLOCKS];    // the lane's first element of each block
    uint a_next[ROW_BLOCKS];  // the next element
    [[unroll]] for (uint i = 0; i < ROW_BLOCKS; ++i) {
        if (TRANSPOSE_A) {  // a lane has two rows and one of two k
            const uint row = row0 + i * SUBGROUP + lane * 2 % SUBGROUP;
            const uint at = batch * a_batch + (k_begin + lane * 2 / SUBGROUP) * a_pitch;
            a_at[i] = at + min(row, LAYOUT_A != SCALAR ? (m - 1) / 2 * 2 : m - 1);
            a_next[i] = at + min(row + 1, m - 1);
        } else {
            a_at[i] = batch * a_batch + min(row0 + i * SUBGROUP + lane, m - 1) * a_pitch + k_begin;
            a_next[i] = a_at[i] + 1;
        }
    }
    uint b_at[PAIRS];
    uint b_next[PAIRS];
    [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
        const uint column = column0 + (p * SUBGROUP + lane) * 2;
        const uint first = min(column, LAYOUT_B != SCALAR && !TRANSPOSE_B ? n - 2 : n - 1);
        const uint second = min(column + 1, n - 1);
        const uint origin = batch * b_batch + k_begin * (TRANSPOSE_B ? 1 : b_pitch);
        b_at[p] = origin + first * (TRANSPOSE_B ? b_pitch : 1);
        b_next[p] = origin + second * (TRANSPOSE_B ? b_pitch : 1);
    }

    const uint a_step = TRANSPOSE_A ? a_pitch : 1;
    const uint b_step = TRANSPOSE_B ? 1 : b_pitch;
    for (uint k0 = k_begin; k0 < k_step_end; k0 += STEP) {
        vec2 left[ROW_BLOCKS * STEP_PAIRS];
        [[unroll]] for (uint i = 0; i < ROW_BLOCKS; ++i)
            [[unroll]] for (uint h = 0; h < STEP_PAIRS; ++h) {
                const uint on = 2 * h * a_step;
                left[i * STEP_PAIRS + h] = factor * load_vec2(LAYOUT_A, a, a_at[i] + on, a_next[i] + on);
            }
        vec2 right[STEP * PAIRS];
        [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
            if (TRANSPOSE_B) {
                [[unroll]] for (uint h = 0; h < STEP_PAIRS; ++h) {
                    const vec2 x = load_vec2(LAYOUT_B, b, b_at[p] + 2 * h, b_at[p] + 2 * h + 1);
                    const vec2 z = load_vec2(LAYOUT_B, b, b_next[p] + 2 * h, b_next[p] + 2 * h + 1);
                    right[2 * h * PAIRS + p] = vec2(x.x, z.x);
                    right[(2 * h + 1) * PAIRS + p] = vec2(x.y, z.y);
                }
            } else {
                [[unroll]] for (uint s = 0; s < STEP; ++s) {
                    const uint on = s * b_pitch;
                    right[s * PAIRS + p] = load_vec2(LAYOUT_B, b, b_at[p] + on, b_next[p] + on);
                }
            }
        }
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            [[unroll]] for (uint s = 0; s < STEP; ++s) {
                const vec2 both = left[r / SUBGROUP * STEP_PAIRS + s / 2];
                const float x = TRANSPOSE_A
                    ? subgroupBroadcast(both[r % 2], r % SUBGROUP / 2 + s % 2 * (SUBGROUP / 2))
                    : subgroupBroadcast(both[s % 2], r % SUBGROUP);
                [[unroll]] for (uint p = 0; p < PAIRS; ++p)
                    sum[r * PAIRS + p] += x * right[s * PAIRS + p];
            }
        }
        [[unroll]] for (uint i = 0; i < ROW_BLOCKS; ++i) {
            a_at[i] += STEP * a_step;
            a_next[i] += STEP * a_step;
        }
        [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
            b_at[p] += STEP * b_step;
            b_next[p] += STEP * b_step;
        }
    }

    if (TAIL) {
        for (uint k0 = k_step_end; k0 < k_end; ++k0) {
            vec2 right[PAIRS];
            [[unroll]] for (uint p = 0; p < PAIRS; ++p)
                right[p] = TRANSPOSE_B ? vec2(load_one(b, b_at[p], LAYOUT_B), load_one(b, b_next[p], LAYOUT_B))
                                       : load_vec2(LAYOUT_B, b, b_at[p], b_next[p]);
            [[unroll]] for (uint i = 0; i < ROW_BLOCKS; ++i) {
                const uint row = min(row0 + i * SUBGROUP + lane, m - 1);
                const uint at = TRANSPOSE_A ? k0 * a_pitch + row : row * a_pitch + k0;
                const float left = factor * load_one(a, batch * a_batch + at, LAYOUT_A);
                [[unroll]] for (uint r = 0; r < SUBGROUP; ++r) {
                    const float x = subgroupBroadcast(left, r);
                    [[unroll]] for (uint p = 0; p < PAIRS; ++p)
                        sum[(i * SUBGROUP + r) * PAIRS + p] += x * right[p];
                }
            }
            [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
                b_at[p] += b_step;
                b_next[p] += b_step;
            }
        }
    }
}

void main() {
    const uint lane = gl_SubgroupInvocationID;
    const uint across = (n + COLUMNS - 1) / COLUMNS;
    const uint tiles = across * ((m + ROWS - 1) / ROWS);
    const uint part = group_index() / tiles;  // matrix and split
    if (part >= batches * splits) return;
    const uint tile = group_index() % tiles;
    const uint batch = part / splits;
    // Neighbouring tiles share their panel of the larger matrix, so that it is read from memory once.
    const uint down = tiles / across;
    const uint row0 = (m <= n ? tile % down : tile / across) * ROWS;
    const uint column0 = (m <= n ? tile / down : tile % across) * COLUMNS;
    const uint k_begin = part_k_begin(part);
    const uint k_end = part_k_end(part);

    [[unroll]] for (uint i = 0; i < ROWS * PAIRS; ++i) sum[i] = vec2(0.0);
    if (SCALE_K) {
        for (uint k0 = k_begin, next; k0 < k_end; k0 = next) {
            next = min(k_end, k0 + rows_per_scale - (batch * k + k0) % rows_per_scale);
            add_terms(batch, row0, column0, k0, next, k_scale(batch, k0));
        }
    } else {
        add_terms(batch, row0, column0, k_begin, k_end, 1.0);
    }

    [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
        const uint column = column0 + (p * SUBGROUP + lane) * 2;
        const bool second = column + 1 < n;
        if (column < n) {
            vec2 shift = vec2(0.0);
            if (BIAS) shift = vec2(bias.at[column], bias.at[second ? column + 1 : column]);
            uint to = part * y_batch + row0 * y_pitch + column;
            uint from = batch * aux_batch + row0 * aux_pitch + column;
            [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                if (row0 + r < m) {
                    vec2 v = alpha * sum[r * PAIRS + p];
                    if (BIAS) v += shift;
                    vec2 more = vec2(0.0);
                    if (EPILOGUE != 0) more = load_vec2(LAYOUT_AUX, aux, from, second ? from + 1 : from);
                    const float factor = y_scale(batch, row0 + r);
                    v = vec2(finish(EPILOGUE, ACTIVATION, v.x, factor, more.x),
                             finish(EPILOGUE, ACTIVATION, v.y, factor, more.y));
                    store_some(y, to, v, LAYOUT_Y != SCALAR || second, LAYOUT_Y);
                }
                to += y_pitch;
                from += aux_pitch;
            }
        }
    }
}
