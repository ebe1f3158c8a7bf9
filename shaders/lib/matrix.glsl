// Transfers for kernels with cooperative matrices: eight neighbours at a time from a tensor to shared memory, as 16-bit
// numbers, and four at a time (lib/vec4.glsl) from shared memory to a tensor.
// Expects lib/args.glsl, lib/vector_layout.glsl, and one of lib/matrix_fp16.glsl and lib/matrix_bf16.glsl, which define
// the type ELEMENT, the layout ELEMENT_PAIR of its tensors, and pack, which packs two elements into a word.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require

#include "lib/vec4.glsl"

layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer InWords2 { uvec2 at[]; };
layout(buffer_reference, buffer_reference_align = 16) restrict readonly buffer InWords4 { uvec4 at[]; };

// Makes shared memory that lanes of a subgroup have written visible to all its lanes. subgroupBarrier() would include
// global memory, for which NVIDIA's GPUs invalidate their first-level cache.
void shared_barrier() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

uint number_bytes(uint form) { return packed(form) ? 2 : 4; }

// True if the 16 bytes at every eighth number of a row (every fourth of 32-bit numbers) are an aligned word.
bool words_aligned(uint64_t address, uint form, uint pitch, uint begin) {
    return ((uint(address) | (pitch | begin) * number_bytes(form)) & 15) == 0;
}

// Converts words of numbers from a tensor's format to words of ELEMENT.
uint elements(uint word, uint form) { return form == ELEMENT_PAIR ? word : pack(unpack(word, form)); }
uvec4 elements(uvec4 words, uint form) {
    return uvec4(elements(words.x, form), elements(words.y, form), elements(words.z, form), elements(words.w, form));
}
uvec4 elements(vec4 low, vec4 high) {
    return uvec4(pack(low.xy), pack(low.zw), pack(high.xy), pack(high.zw));
}

// Loads block `block` of 8 elements of the slice of x that begins at `from` = (line, place in the line); 0 past `end`.
uvec4 fetch(In x, uint form, uint begin, uint pitch, uint block, uint blocks_per_line, uvec2 from, uvec2 end,
            bool aligned) {
    const uvec2 at = from + uvec2(block / blocks_per_line, block % blocks_per_line * 8);
    const uint first = begin + at.x * pitch + at.y;
    const uint there = at.x < end.x && at.y < end.y ? end.y - at.y : 0;
    if (packed(form)) {  // widths are even, so no pair crosses the edge
        uvec4 words = uvec4(0);
        if (aligned && there >= 8) {
            words = InWords4(x).at[first / 8];
        } else {
            [[unroll]] for (uint i = 0; i < 4; ++i)
                if (2 * i < there) words[i] = InWord(x).at[first / 2 + i];
        }
        return elements(words, form);
    }
    vec4 low = vec4(0.0), high = vec4(0.0);
    if (aligned && there >= 8) {
        InAligned4 vec4s = InAligned4(x);
        low = vec4s.at[first / 4];
        high = vec4s.at[first / 4 + 1];
    } else {
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            if (i < there) low[i] = x.at[first + i];
            if (i + 4 < there) high[i] = x.at[first + i + 4];
        }
    }
    return elements(low, high);
}

// Loads 4 elements of x from `first` on, of which `there` exist; 0 for the others.
uvec2 fetch_four(In x, uint form, uint first, uint there, bool aligned) {
    if (packed(form)) {
        uvec2 words = uvec2(0);
        if (aligned && there >= 4) {
            words = InWords2(x).at[first / 4];
        } else {
            if (there > 0) words.x = InWord(x).at[first / 2];
            if (there > 2) words.y = InWord(x).at[first / 2 + 1];
        }
        return uvec2(elements(words.x, form), elements(words.y, form));
    }
    const vec4 four = load_vec4(x, form, first, there, aligned);
    return uvec2(pack(four.xy), pack(four.zw));
}
