// What both kernels of a radix sort's pass share: runtime/ops/radix_sort.h.

layout(constant_id = 2) const uint SECTION = 1024;  // keys of a workgroup
layout(constant_id = 3) const bool FIRST = false;   // the pass that finds the keys in their own order

const uint RADIX = 256;

uint digit_of(InInt keys, uint number, uint key_count, uint shift) {
    return uint(clamp(keys.at[number], 0, int(key_count) - 1)) >> shift & (RADIX - 1);
}
