// Maps numbers to words in the same order, which makes comparisons independent of how drivers treat NaN, and reduces
// words over a workgroup; all invocations take part.

shared uint word_partial[32];  // one per subgroup

// Word greater than 0, in the order of the numbers; NaN is above all numbers, −0 equals 0.
uint ordered(float value) {
    const uint bits = floatBitsToUint(value), size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return 0xffffffffu;
    return size == 0 || size == bits ? size | 0x80000000u : ~bits;
}

float from_ordered(uint word) {
    return uintBitsToFloat(word >= 0x80000000u ? word & 0x7fffffffu : ~word);
}

uint group_max(uint word) {
    uint top = subgroupMax(word);
    if (GROUP > SUBGROUP) {
        barrier();  // an earlier reduction may still be reading
        if (subgroupElect()) word_partial[gl_SubgroupID] = top;
        barrier();
        top = word_partial[0];
        for (uint i = 1; i < gl_NumSubgroups; ++i) top = max(top, word_partial[i]);
    }
    return top;
}

uint group_min(uint word) { return ~group_max(~word); }
