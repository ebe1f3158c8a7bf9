// What all attention kernels are specialised by, but for the mask (lib/attention_mask.glsl).
#include "lib/exponential.glsl"
#include "lib/random.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint D = 32;           // width of a head of queries and keys
layout(constant_id = 16) const uint D_V = 32;        // of values
layout(constant_id = 14) const uint HEADS = 1;       // of queries
layout(constant_id = 15) const uint GQA_GROUP = 1;   // query heads that read one key head
layout(constant_id = 4) const uint LAYOUT = SCALAR;  // of q, k, v, o and their gradients; even widths or SCALAR
layout(constant_id = 20) const uint LAYOUT_O = SCALAR;  // of o where it is made: as LAYOUT, or 32-bit numbers
layout(constant_id = 7) const bool DROPOUT = false;  // of the probabilities
layout(constant_id = 21) const bool GIVEN_DELTA = false;  // not to be made from o, which is then not there

// Tensors are of two kinds: heads of q and k are D wide, those of v and o D_V, and gradients as what they are of.
const uint QK = 0, VO = 1;
uint head_width(uint kind) { return kind == QK ? D : D_V; }
