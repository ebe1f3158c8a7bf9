// Loads and stores four neighbouring numbers of a row: in one access of 128 bits if they are aligned 32-bit numbers,
// else by pairs or one by one. Expects lib/args.glsl and lib/vector_layout.glsl.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(buffer_reference, buffer_reference_align = 16) restrict readonly buffer InAligned4 { vec4 at[]; };
layout(buffer_reference, buffer_reference_align = 16) restrict writeonly buffer OutAligned4 { vec4 at[]; };

// True if the elements 4 i to 4 i + 3 of every row are one aligned word.
bool vec4_aligned(uint64_t address, uint pitch, uint begin) {
    return ((uint(address) / 4 | pitch | begin) & 3) == 0;
}

// Loads four elements from `from` on, of which `there` exist; the others are 0.
vec4 load_vec4(In x, uint form, uint from, uint there, bool aligned) {
    vec4 v = vec4(0.0);
    if (form == VEC2 && aligned && there >= 4) {
        v = InAligned4(x).at[from / 4];
    } else if (form != SCALAR) {
        if (there > 0) v.xy = load_two(x, from, form);
        if (there > 2) v.zw = load_two(x, from + 2, form);
    } else {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (j < there) v[j] = x.at[from + j];
    }
    return v;
}

// Stores v to the elements from `to` on, of which `there` exist.
void store_vec4(Out y, uint form, uint to, uint there, vec4 v, bool aligned) {
    if (packed(form)) {
        if (there > 0) store_two(y, to, v.xy, form);
        if (there > 2) store_two(y, to + 2, v.zw, form);
    } else if (aligned && there >= 4) {
        OutAligned4(y).at[to / 4] = v;
    } else {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (j < there) y.at[to + j] = v[j];
    }
}
