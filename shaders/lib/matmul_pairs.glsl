// Pairs of a matrix's elements for the kernels that give each lane two columns.
#include "lib/wide.glsl"

// x[first] and x[second], which is the next element if wide.
vec2 load_pair(bool wide, In x, uint first, uint second) {
    if (wide) return load_two(x, first, true);
    return vec2(x.at[first], x.at[second]);
}
