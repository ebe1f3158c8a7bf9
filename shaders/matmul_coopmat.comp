#version 460
//! requires GL_KHR_cooperative_matrix
// The product of matmul.comp by cooperative matrices of fp16.
#include "lib/matrix_fp16.glsl"
#include "lib/matmul_coopmat.glsl"
