// For lib/matrix.glsl: cooperative matrices of bfloat16.
//
// Numerics: rounding is to nearest even (2^-8 of a number); a bfloat16 reaches as far as an fp32.
#extension GL_EXT_spirv_intrinsics : require

// glslc 2025.2 does not know GL_EXT_bfloat16: this is OpTypeFloat 16 BFloat16KHR, with the capabilities of the type and
// of cooperative matrices of it (SPV_KHR_bfloat16).
#define ELEMENT spirv_type(extensions = ["SPV_KHR_bfloat16"], capabilities = [5116, 5118], id = 22, 16, 0)
#define ELEMENT_PAIR BF16X2

// The upper halves of two numbers, after what is rounded away has had its say; NaN stays NaN.
uint pack(vec2 pair) {
    const uvec2 bits = floatBitsToUint(pair);
    const uvec2 rounded = bits + 0x7fff + (bits >> 16 & 1);
    const uvec2 half_words = mix(rounded, bits | 0x400000, isnan(pair)) >> 16;
    return half_words.x | half_words.y << 16;
}
