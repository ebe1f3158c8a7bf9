#version 460
//! requires GL_KHR_cooperative_matrix
// matmul.comp with cooperative matrices of fp16.
#include "lib/matrix_fp16.glsl"
#include "matmul/matmul_coopmat.glsl"
