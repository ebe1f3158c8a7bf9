// What all attention kernels are specialised by, and the order of their blocks.
#include "lib/exponential.glsl"
#include "lib/random.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint D = 32;                 // head width
layout(constant_id = 14) const uint HEADS = 1;             // of queries
layout(constant_id = 15) const uint SHARE = 1;             // query heads that read one key head
layout(constant_id = 4) const uint LAYOUT = SCALAR;       // of q, k, v, o and their gradients; unless SCALAR D is even
layout(constant_id = 5) const bool CAUSAL = false;         // a query sees no key behind its position
layout(constant_id = 6) const bool MASK_DIAGONAL = false;  // nor the key at its own position
layout(constant_id = 7) const bool DROPOUT = false;        // of the probabilities

// Heavy and light blocks alternate, so that any contiguous share of a causal grid is equal work.
uint fair_block(uint i, uint blocks) {
    if (!CAUSAL) return i;
    return (i & 1) != 0 ? blocks - 1 - i / 2 : i / 2;
}
