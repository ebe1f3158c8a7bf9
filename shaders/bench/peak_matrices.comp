#version 460
//! requires GL_KHR_cooperative_matrix
// Peak rate of cooperative matrices of fp16.
#include "lib/matrix_fp16.glsl"
#include "bench/peak_matrices.glsl"
