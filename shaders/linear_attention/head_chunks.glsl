// Rows of heads, x [B, length, HEADS·WIDTH], and rows of matrices that hold them, y […, SHARING·CHUNK, COLUMNS]. There
// is a matrix for each batch row, group of SHARING heads and chunk of positions, in this order; its row
// s·CHUNK + l has head s of the group at the chunk's position l. Row i of x has position i; with QUERIES the last row
// that counts has the position of the last key that counts.
//
// A kernel defines ARGS, its own arguments, and LAYOUT constants as it needs. COLUMNS is a multiple of 8. A workgroup
// takes `per_group` consecutive rows of x's heads or of y, with all invocations along the columns.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint WIDTH = 64;
layout(constant_id = 3) const uint COLUMNS = 64;
layout(constant_id = 4) const uint HEADS = 1;
layout(constant_id = 5) const uint SHARING = 1;
layout(constant_id = 6) const uint CHUNK = 64;
layout(constant_id = 7) const bool QUERIES = false;
layout(constant_id = 8) const bool LENGTHS = false;      // else all rows count
layout(constant_id = 9) const bool KEY_LENGTHS = false;  // else all keys count

layout(push_constant) uniform Args {
    ARGS
    InInt lengths;
    InInt key_lengths;
    uint rows;
    uint per_group;
    uint length;
    uint keys;
    uint chunks;
    uint length_stride;  // 0: all batch rows have the first length
    uint key_length_stride;
};

const uint GROUPS = HEADS / SHARING;

// Rows of x that count, and the position of the first one; negative if queries outnumber keys.
struct Counted {
    int rows, first;
};

Counted counted(uint batch) {
    const int own = LENGTHS ? clamp(lengths.at[batch * length_stride], 0, int(length)) : int(length);
    if (!QUERIES) return Counted(own, 0);
    const int present = KEY_LENGTHS ? clamp(key_lengths.at[batch * key_length_stride], 0, int(keys)) : int(keys);
    return Counted(own, present - own);
}

// Finds the head of x that matrix row `row` holds: false if there is none, else `place` is its number, counted through
// all heads of all rows.
bool head_of_matrix_row(uint row, out uint place) {
    const uint matrix = row / (SHARING * CHUNK), within = row % (SHARING * CHUNK);
    const uint batch = matrix / (chunks * GROUPS);
    const uint head = matrix / chunks % GROUPS * SHARING + within / CHUNK;
    const Counted c = counted(batch);
    const int i = int(matrix % chunks * CHUNK + within % CHUNK) - c.first;
    place = (batch * length + uint(max(i, 0))) * HEADS + head;
    return i >= 0 && i < c.rows;
}

// Finds the matrix row that holds head `place` of x: false if there is none.
bool matrix_row_of_head(uint place, out uint row) {
    const uint head = place % HEADS, i = place / HEADS % length, batch = place / HEADS / length;
    const Counted c = counted(batch);
    const int position = int(i) + c.first;
    const uint at = uint(max(position, 0));
    const uint matrix = (batch * GROUPS + head / SHARING) * chunks + at / CHUNK;
    row = (matrix * SHARING + head % SHARING) * CHUNK + at % CHUNK;
    return int(i) < c.rows && position >= 0;
}

// First element of head `place` of a tensor [B, length, HEADS·WIDTH].
uint head_at(uint place, uint pitch) { return place / HEADS * pitch + place % HEADS * WIDTH; }
