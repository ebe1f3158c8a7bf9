#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
// matmul.comp with workgroup matrices of fp16: see matmul/matmul_coopmat2.glsl.
#include "lib/matrix_fp16.glsl"
#include "matmul/matmul_coopmat2.glsl"
