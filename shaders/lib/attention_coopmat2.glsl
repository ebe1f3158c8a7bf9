// What the attention kernels with matrices of a whole workgroup share (attention_coopmat2*.comp).
//
// A workgroup owns ROWS rows of a tensor of heads and visits BLOCK_K rows of another at a time. The logits of all those
// pairs are one matrix, and so are maxima, sums and factors of its rows, one number along each row, so that elements of
// one place meet. Nothing but dropout's words is kept in shared memory of the kernel's own.
//
// Numerics: operands and weights are rounded to ELEMENT; products and sums are fp32, in an order that is the device's
// own but always the same. Columns past the head's width and rows past those that count are 0.
#include "lib/attention_options.glsl"

// Multiples of the device's granularity.
layout(constant_id = 9) const uint ROWS = 64;
layout(constant_id = 10) const uint BLOCK_K = 64;
layout(constant_id = 11) const uint WIDTH = 64;    // D rounded up
layout(constant_id = 12) const uint WIDTH_V = 64;  // D_V rounded up
layout(constant_id = 24) const bool ALIGNED = false;  // lines of 16-bit elements start at multiples of 16 bytes, of all

const uint STAGED = (ROWS > BLOCK_K ? ROWS : BLOCK_K) * (WIDTH > WIDTH_V ? WIDTH : WIDTH_V);
#include "lib/coopmat2.glsl"

#define LOAD(matrix, memory, form, base, pitch, end, from, extent)                                                    \
    LOAD_LINES(matrix, memory, form, ALIGNED, base, pitch, end, from, extent)
#define LOAD_TRANSPOSED(matrix, memory, form, base, pitch, end, from, extent)                                         \
    LOAD_COLUMNS(matrix, memory, form, ALIGNED, base, pitch, end, from, extent)
#define STORE(matrix, memory, form, base, pitch, end, from, extent)                                                   \
    STORE_LINES(matrix, memory, form, ALIGNED, base, pitch, end, from, extent)

// Of q and k, and of their gradients; the same of v and o.
#define TOTAL SUM(ROWS, WIDTH)
#define TOTAL_V SUM(ROWS, WIDTH_V)
const uvec2 OWN = uvec2(ROWS, WIDTH), OWN_V = uvec2(ROWS, WIDTH_V);
const uvec2 BLOCK = uvec2(BLOCK_K, WIDTH), BLOCK_V = uvec2(BLOCK_K, WIDTH_V);

#define TILE SUM(ROWS, BLOCK_K)

ROUNDING LEFT(ROWS, BLOCK_K) as_weights(TILE x);
ROUNDING ROUNDED_SUM(ROWS, WIDTH) rounded_sum(TOTAL x);
ROUNDING ROUNDED_SUM(ROWS, WIDTH_V) rounded_sum(TOTAL_V x);

shared uint own_word[DROPOUT ? ROWS : 1];
shared uint block_word[DROPOUT ? BLOCK_K : 1];
