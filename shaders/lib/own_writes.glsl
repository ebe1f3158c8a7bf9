// Loads pairs that lanes of the same subgroup have stored in this launch. The references are neither readonly nor
// restrict, so that compilers move no load before the stores. The kernel calls subgroupMemoryBarrierBuffer() between
// stores and loads. A control barrier would turn the subgroups of a CPU device into coroutines, and their lanes run
// together anyway.

layout(buffer_reference, buffer_reference_align = 4) buffer WrittenWord { uint at[]; };
layout(buffer_reference, buffer_reference_align = 8) buffer WrittenWide { uint64_t at[]; };

vec2 load_written(Out x, uint at, uint form) {
    if (packed(form)) return unpack(WrittenWord(x).at[at / 2], form);
    return uintBitsToFloat(unpackUint2x32(WrittenWide(x).at[at / 2]));
}
