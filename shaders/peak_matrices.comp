#version 460
//! requires GL_KHR_cooperative_matrix
// The peak of cooperative matrices of fp16.
#include "lib/matrix_fp16.glsl"
#include "lib/peak_matrices.glsl"
