// What the attention kernels with matrices of a whole workgroup share (attention_coopmat2*.comp).
//
// A workgroup holds ROWS rows of a tensor of heads ("its rows") and meets OTHERS rows of another at a time. The logits
// of all those pairs are one matrix, and so are maxima, sums and factors of its rows, one number along each row, so
// that elements of one place meet. Nothing but dropout's words is kept in shared memory of the kernel's own.
//
// Numerics: operands and weights are rounded to ELEMENT; products and sums are fp32, in an order that is the device's
// own but always the same. Columns past the head's width and rows past the last count as 0.
#include "lib/attention_options.glsl"

// Multiples of the device's granularity.
layout(constant_id = 9) const uint ROWS = 64;
layout(constant_id = 10) const uint OTHERS = 64;
layout(constant_id = 11) const uint WIDTH = 64;  // D rounded up

const uint STAGED = (ROWS > OTHERS ? ROWS : OTHERS) * WIDTH;
#include "lib/coopmat2.glsl"

#define TILE SUM(ROWS, OTHERS)
#define TOTAL SUM(ROWS, WIDTH)

const uvec2 OWN = uvec2(ROWS, WIDTH);
const uvec2 MET = uvec2(OTHERS, WIDTH);

ROUNDING LEFT(ROWS, OTHERS) as_weights(TILE x);
ROUNDING ROUNDED_SUM(ROWS, WIDTH) rounded_sum(TOTAL x);

shared uint own_word[DROPOUT ? ROWS : 1];
shared uint met_word[DROPOUT ? OTHERS : 1];
