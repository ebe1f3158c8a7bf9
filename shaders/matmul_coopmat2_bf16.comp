#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
//! spirv-val 2025.2
// The product of matmul.comp by matrices of bfloat16 that a workgroup holds: see lib/matmul_coopmat2.glsl.
#include "lib/matrix_bf16.glsl"
#include "lib/matmul_coopmat2.glsl"
