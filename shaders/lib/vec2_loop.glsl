// Loops over consecutive elements by pairs, neighbouring pairs to neighbouring lanes; an odd last element is separate:
//     FOR_PAIRS_IN(first, end, i) step(i, true);
//     if (odd_end(first, end)) step(end - 1, false);
// `first` is even, so that pairs start at even elements; LAYOUT tells if a pair may be moved as one word
// (lib/vector_layout.glsl).
#include "lib/vector_layout.glsl"

#define FOR_PAIRS_IN(first, end, i) \
    for (uint i = (first) + 2 * gl_LocalInvocationID.x; i + 1 < (end); i += 2 * GROUP)

bool odd_end(uint first, uint end) { return (end - first) % 2 != 0 && gl_LocalInvocationID.x == 0; }
