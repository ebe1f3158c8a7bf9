// Loads and stores two neighbouring numbers in one access, as 32-bit or as packed 16-bit floats. On lavapipe a load of
// any width costs dozens of additions; on all devices 16 bits halve the traffic.
//
// `form` is the layout of a tensor's pairs (runtime/ops/vector_layout.h) and must be a constant. Packed pairs need no
// device feature: a word holds elements 2 i, in its low half, and 2 i + 1, so widths, pitches and starts are even, and
// one invocation writes both. Numerics: both formats round to nearest, ties to even; binary16 rounds 65520 and more to
// infinity, which loss scaling (loss_scale.comp) must see.
#ifndef VECTOR_LAYOUT
#define VECTOR_LAYOUT

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

const uint SCALAR = 0;  // 32-bit numbers, pairs may be unaligned
const uint VEC2 = 1;    // 32-bit numbers, every pair an aligned 64-bit word
const uint BF16X2 = 2;  // bfloat16
const uint F16X2 = 3;   // binary16

layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer InWide { uint64_t at[]; };
layout(buffer_reference, buffer_reference_align = 8) restrict writeonly buffer OutWide { uint64_t at[]; };
layout(buffer_reference, buffer_reference_align = 8) restrict writeonly buffer OutPair { vec2 at[]; };
REFERENCE readonly buffer InWord { uint at[]; };
REFERENCE writeonly buffer OutWord { uint at[]; };

bool packed(uint form) { return form >= BF16X2; }

uint pack_bfloat(vec2 value) {
    uvec2 word = floatBitsToUint(value);
    word += 0x7fffu + ((word >> 16) & 1u);
    // Rounding would carry a NaN whose bits are all ones to zero.
    word = mix(word, uvec2(0x7fc00000u), notEqual(value, value));
    return word.x >> 16 | (word.y & 0xffff0000u);
}

// packHalf2x16 may round towards zero, and does on GPUs of AMD and NVIDIA. Kernels with 16-bit numbers have an
// instruction with a selectable rounding (lib/matrix_fp16.glsl); all others round by integers.
#ifdef PACK_HALF
uint pack_half(vec2 value) { return PACK_HALF(value); }
#else
uint pack_half(vec2 value) {
    const uvec2 bits = floatBitsToUint(value);
    const uvec2 size = bits & 0x7fffffffu;
    const ivec2 exponent = ivec2(size >> 23);
    // The exponent's bias is 112 less, and 13 digits are dropped; below 2^-14 the leading 1 is explicit, and more
    // digits are dropped.
    const uvec2 digits = size - (uvec2(min(exponent - 1, 112)) << 23);
    const uvec2 gone = uvec2(clamp(126 - exponent, 13, 31));
    uvec2 word = (digits + (uvec2(1) << (gone - 1)) - 1u + (digits >> gone & 1u)) >> gone;
    word = min(word, uvec2(0x7c00u));  // 65520 and more
    word = mix(word, uvec2(0x7e00u), notEqual(value, value));
    word |= bits >> 16 & 0x8000u;
    return word.x | word.y << 16;
}
#endif

vec2 unpack(uint word, uint form) {
    if (form == F16X2) return unpackHalf2x16(word);
    return uintBitsToFloat(uvec2(word << 16, word & 0xffff0000u));
}

// Number of elements before the first whole pair of a row that starts at element `at`.
uint lead_of(uint at, uint form) { return form == VEC2 ? at % 2 : 0; }

float load_one(In x, uint at, uint form) {
    if (!packed(form)) return x.at[at];
    const vec2 both = unpack(InWord(x).at[at / 2], form);
    return at % 2 == 0 ? both.x : both.y;
}

vec2 load_two(In x, uint at, uint form) {
    if (packed(form)) return unpack(InWord(x).at[at / 2], form);
    if (form == VEC2) return uintBitsToFloat(unpackUint2x32(InWide(x).at[at / 2]));
    return vec2(x.at[at], x.at[at + 1]);
}

// `value` as a kernel reads it after it was stored in this form.
vec2 as_stored(vec2 value, uint form) {
    if (!packed(form)) return value;
    return unpack(form == F16X2 ? pack_half(value) : pack_bfloat(value), form);
}

// Two numbers as one word: lavapipe stores the components of a vector separately. The word is a sum, because
// packUint2x32 crashes Mesa 26.1's CPU device with 16 lanes, and so does an `or`, which is compiled to it.
uint64_t wide_word(vec2 value) {
    const uvec2 bits = floatBitsToUint(value);
    return (uint64_t(bits.y) << 32) + bits.x;
}

void store_two(Out y, uint at, vec2 value, uint form) {
    if (packed(form)) {
        OutWord(y).at[at / 2] = form == F16X2 ? pack_half(value) : pack_bfloat(value);
    } else if (form == VEC2) {
        if (CPU)
            OutWide(y).at[at / 2] = wide_word(value);
        else
            OutPair(y).at[at / 2] = value;
    } else {
        y.at[at] = value.x;
        y.at[at + 1] = value.y;
    }
}

// Loads two elements, or one and 0. Packed elements are never stored alone.
vec2 load_some(In x, uint at, bool two, uint form) {
    if (two) return load_two(x, at, form);
    return vec2(load_one(x, at, form), 0.0);
}

void store_some(Out y, uint at, vec2 value, bool two, uint form) {
    if (two) store_two(y, at, value, form);
    else y.at[at] = value.x;
}
#endif
