#version 460
//! requires GL_KHR_cooperative_matrix
//! spirv-val 2025.2
// One product by cooperative matrices of bfloat16.
#include "lib/matrix_bf16.glsl"
#include "check/one_matrix_product.glsl"
