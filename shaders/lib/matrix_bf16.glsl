// Element type of lib/matrix.glsl for cooperative matrices of bfloat16.
//
// Numerics: rounds to nearest even (2^-8 of a number); a bfloat16 has the range of an fp32.
#extension GL_EXT_spirv_intrinsics : require

// glslc 2025.2 does not know GL_EXT_bfloat16: this is OpTypeFloat 16 BFloat16KHR, with the capabilities of the type and
// of cooperative matrices of it (SPV_KHR_bfloat16).
#define ELEMENT spirv_type(extensions = ["SPV_KHR_bfloat16"], capabilities = [5116, 5118], id = 22, 16, 0)
#define ELEMENT_PAIR BF16X2

// Bits whose upper halves are the bfloat16s nearest to the two numbers; NaN stays NaN.
uvec2 nearest_bits(vec2 pair) {
    const uvec2 bits = floatBitsToUint(pair);
    return mix(bits + 0x7fff + (bits >> 16 & 1), bits | 0x400000, isnan(pair));
}
uint pack(vec2 pair) {
    const uvec2 half_words = nearest_bits(pair) >> 16;
    return half_words.x | half_words.y << 16;
}

// The bfloat16 nearest to x as an fp32, which OpFConvert converts exactly. OpFConvert alone may round either way:
// NVIDIA's driver 580 truncates.
float nearest(float x) { return uintBitsToFloat(nearest_bits(vec2(x, 0.0)).x & 0xffff0000u); }
