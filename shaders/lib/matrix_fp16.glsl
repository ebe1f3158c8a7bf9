// Element type of lib/matrix.glsl for cooperative matrices of fp16.
//
// Numerics: rounds to nearest even (2^-11 of a number, 2^-25 below 2^-14), and to infinity beyond 65504.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require

// RoundingModeRTE of 16 bits: without it the device chooses the direction of rounding.
spirv_execution_mode(capabilities = [4467], 4462, 16);

#define ELEMENT float16_t
#define ELEMENT_PAIR F16X2

uint pack(vec2 pair) { return packFloat2x16(f16vec2(pair)); }
#define PACK_HALF pack  // for lib/vector_layout.glsl

// x itself: by the execution mode, OpFConvert rounds to the nearest fp16.
float nearest(float x) { return x; }
