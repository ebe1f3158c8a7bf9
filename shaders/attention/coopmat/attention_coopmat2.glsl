// Common part of the attention kernels with matrices of a whole workgroup (attention_coopmat2*.comp).
//
// A workgroup owns ROWS rows of a tensor of heads and visits BLOCK_K rows of another at a time. The logits of these
// pairs are one matrix. Maxima, sums and factors of its rows are matrices, too, with equal numbers along each row, so
// that elementwise functions combine them. The kernel's own shared memory holds only the words of dropout.
//
// Numerics: operands and weights are rounded to ELEMENT; products and sums are fp32, in an order that the device
// chooses but never varies. Columns past the head's width and rows past the valid ones are 0.
#include "attention/attention_options.glsl"

// Multiples of the device's granularity.
layout(constant_id = 9) const uint ROWS = 64;
layout(constant_id = 10) const uint BLOCK_K = 64;
layout(constant_id = 11) const uint WIDTH = 64;    // D rounded up
layout(constant_id = 12) const uint WIDTH_V = 64;  // D_V rounded up
layout(constant_id = 24) const bool ALIGNED = false;  // 16-bit lines of all tensors start at multiples of 16 bytes

const uint STAGED = (ROWS > BLOCK_K ? ROWS : BLOCK_K) * (WIDTH > WIDTH_V ? WIDTH : WIDTH_V);
#include "lib/coopmat2.glsl"

#define LOAD(matrix, memory, form, base, pitch, end, from, extent)                                                    \
    LOAD_LINES(matrix, memory, form, ALIGNED, base, pitch, end, from, extent)
#define LOAD_TRANSPOSED(matrix, memory, form, base, pitch, end, from, extent)                                         \
    LOAD_COLUMNS(matrix, memory, form, ALIGNED, base, pitch, end, from, extent)
#define STORE(matrix, memory, form, base, pitch, end, from, extent)                                                   \
    STORE_LINES(matrix, memory, form, ALIGNED, base, pitch, end, from, extent)

// Sums and extents for q, k and their gradients, and (_V) for v, o and their gradients.
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
