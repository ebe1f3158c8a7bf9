// What kernels with cooperative matrices have in common: eight neighbours at a time on their way from a tensor to
// shared memory, where they are 16-bit numbers, and four at a time (lib/vec4.glsl) from there to a tensor.
// Expects lib/args.glsl and lib/vector_layout.glsl, and of lib/matrix_fp16.glsl or lib/matrix_bf16.glsl ELEMENT, the
// type, and pack, which makes a word of two.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require

#include "lib/vec4.glsl"

// What the lanes of a subgroup have written to shared memory is there for all of them. subgroupBarrier() would say so
// of global memory as well, for which NVIDIA's GPUs drop what their first-level cache holds.
void shared_barrier() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

struct Block {
    vec4 low, high;
};

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
            InAligned4 vec4s = InAligned4(x);
            got.low = vec4s.at[first / 4];
            got.high = vec4s.at[first / 4 + 1];
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
