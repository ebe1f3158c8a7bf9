// Pairs that lanes of the same subgroup have written in this launch. Unlike other inputs they are neither readonly nor
// restrict, so that no load is moved before the stores. Between stores and loads stands subgroupMemoryBarrierBuffer():
// a barrier that lanes wait at would make coroutines of a CPU device's subgroups, whose lanes are together anyway.

layout(buffer_reference, buffer_reference_align = 4) buffer WrittenWord { uint at[]; };
layout(buffer_reference, buffer_reference_align = 8) buffer WrittenWide { uint64_t at[]; };

vec2 load_written(Out x, uint at, uint form) {
    if (packed(form)) return unpack(WrittenWord(x).at[at / 2], form);
    return uintBitsToFloat(unpackUint2x32(WrittenWide(x).at[at / 2]));
}
