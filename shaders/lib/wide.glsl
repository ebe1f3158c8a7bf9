// Two neighbouring numbers in one access. On lavapipe an access costs dozens of additions, whatever its width.
//
// `wide` is the host's promise that the address is a multiple of 8 bytes (runtime/ops/wide.h); it must be a constant.

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

REFERENCE readonly buffer InWide { uint64_t at[]; };
REFERENCE writeonly buffer OutWide { uint64_t at[]; };

vec2 load_two(In x, uint at, bool wide) {
    if (wide) return uintBitsToFloat(unpackUint2x32(InWide(x).at[at / 2]));
    return vec2(x.at[at], x.at[at + 1]);
}

void store_two(Out y, uint at, vec2 value, bool wide) {
    if (wide) {
        OutWide(y).at[at / 2] = packUint2x32(floatBitsToUint(value));
    } else {
        y.at[at] = value.x;
        y.at[at + 1] = value.y;
    }
}

// Likewise of two elements or one, the other being 0.
vec2 load_some(In x, uint at, bool two, bool wide) {
    if (two) return load_two(x, at, wide);
    return vec2(x.at[at], 0.0);
}

void store_some(Out y, uint at, vec2 value, bool two, bool wide) {
    if (two) store_two(y, at, value, wide);
    else y.at[at] = value.x;
}
