#version 460
//! requires GL_KHR_cooperative_matrix
// One product by cooperative matrices of fp16.
#include "lib/matrix_fp16.glsl"
#include "check/one_matrix_product.glsl"
