// Specialisation constants of all attention kernels, except those of the mask (attention/attention_mask.glsl).
#include "lib/exponential.glsl"
#include "lib/random.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint D = 32;           // width of a head of queries and keys
layout(constant_id = 16) const uint D_V = 32;        // width of a head of values
layout(constant_id = 14) const uint HEADS = 1;       // query heads
layout(constant_id = 15) const uint GQA_GROUP = 1;   // query heads that read one key head
layout(constant_id = 4) const uint LAYOUT = SCALAR;  // q, k, v, o and their gradients; SCALAR if widths are odd
layout(constant_id = 20) const uint LAYOUT_O = SCALAR;  // o as a result: as LAYOUT, or 32-bit numbers
layout(constant_id = 7) const bool DROPOUT = false;  // dropout of probabilities
layout(constant_id = 21) const bool GIVEN_DELTA = false;  // delta is an input, and o is absent

// Two kinds of tensors: heads of q, k and their gradients are D wide, heads of v, o and their gradients D_V.
const uint QK = 0, VO = 1;
uint head_width(uint kind) { return kind == QK ? D : D_V; }
