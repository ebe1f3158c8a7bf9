// For lib/matrix.glsl: cooperative matrices of fp16.
//
// Numerics: rounding is to nearest even (2^-11 of a number, 2^-25 below 2^-14), and beyond 65504 to infinity.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require

// Without this the direction of rounding is the device's own affair. RoundingModeRTE, of 16 bits.
spirv_execution_mode(capabilities = [4467], 4462, 16);

#define ELEMENT float16_t
#define ELEMENT_PAIR F16X2

uint pack(vec2 pair) { return packFloat2x16(f16vec2(pair)); }
#define PACK_HALF pack  // for lib/vector_layout.glsl

// OpFConvert rounds to the nearest fp16 by the execution mode above.
float nearest(float x) { return x; }
