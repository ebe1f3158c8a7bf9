// What kernels with cooperative matrices have in common: eight neighbours at a time on their way from a tensor to
// shared memory, where they are 16-bit numbers, and four at a time from there to a tensor.
// Expects lib/args.glsl and lib/pairs.glsl, and of lib/matrix_fp16.glsl or lib/matrix_bf16.glsl ELEMENT, the type, and
// pack, which makes a word of two.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(buffer_reference, scalar, buffer_reference_align = 16) restrict readonly buffer InQuads { vec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) restrict writeonly buffer OutQuads { vec4 at[]; };

struct Block {
    vec4 low, high;
};

// Whether the elements 4 i to 4 i + 3 of every row make one aligned word.
bool quads_aligned(uint64_t address, uint pitch, uint begin) {
    return ((uint(address) / 4 | pitch | begin) & 3) == 0;
}

// Block `block` of the slice of x that begins at `from` = (line, place in the line); 0 past `end`.
Block fetch(In x, uint form, uint begin, uint pitch, uint block, uint blocks_per_line, uvec2 from, uvec2 end,
            bool aligned) {
    const uvec2 at = from + uvec2(block / blocks_per_line, block % blocks_per_line * 8);
    const uint first = begin + at.x * pitch + at.y;
    Block got = Block(vec4(0.0), vec4(0.0));
    if (at.x < end.x && at.y < end.y) {
        const uint there = end.y - at.y;
        if (packed(form)) {  // widths are even, so that pairs are inside or outside
            if (there > 0) got.low.xy = load_two(x, first, form);
            if (there > 2) got.low.zw = load_two(x, first + 2, form);
            if (there > 4) got.high.xy = load_two(x, first + 4, form);
            if (there > 6) got.high.zw = load_two(x, first + 6, form);
        } else if (aligned && there >= 8) {
            InQuads quads = InQuads(x);
            got.low = quads.at[first / 4];
            got.high = quads.at[first / 4 + 1];
        } else {
            [[unroll]] for (uint i = 0; i < 4; ++i) {
                if (i < there) got.low[i] = x.at[first + i];
                if (i + 4 < there) got.high[i] = x.at[first + i + 4];
            }
        }
    }
    return got;
}

uvec4 packed(Block b) {
    return uvec4(pack(b.low.xy), pack(b.low.zw), pack(b.high.xy), pack(b.high.zw));
}

// The elements from `from` on, of which `there` exist.
vec4 load_quad(In x, uint form, uint from, uint there) {
    vec4 v = vec4(0.0);
    if (packed(form)) {
        if (there > 0) v.xy = load_two(x, from, form);
        if (there > 2) v.zw = load_two(x, from + 2, form);
    } else {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (j < there) v[j] = x.at[from + j];
    }
    return v;
}

// v to the elements from `to` on, of which `there` exist.
void store_quad(Out y, uint form, uint to, uint there, vec4 v, bool aligned) {
    if (packed(form)) {
        if (there > 0) store_two(y, to, v.xy, form);
        if (there > 2) store_two(y, to + 2, v.zw, form);
    } else if (aligned && there >= 4) {
        OutQuads(y).at[to / 4] = v;
    } else {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (j < there) y.at[to + j] = v[j];
    }
}
