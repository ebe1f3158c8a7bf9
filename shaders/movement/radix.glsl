// Common part of the two kernels of a pass of a radix sort: runtime/ops/movement/radix_sort.h.

layout(constant_id = 2) const uint SECTION = 1024;  // keys per workgroup
layout(constant_id = 3) const bool FIRST = false;   // first pass, whose keys are in their original order

const uint RADIX = 256;

uint digit_of(InInt keys, uint number, uint key_count, uint shift) {
    return uint(clamp(keys.at[number], 0, int(key_count) - 1)) >> shift & (RADIX - 1);
}
