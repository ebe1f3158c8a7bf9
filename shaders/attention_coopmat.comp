#version 460
//! requires GL_KHR_cooperative_matrix
// attention.comp by cooperative matrices of fp16: see lib/attention_coopmat_forward.glsl.
#include "lib/args.glsl"
#include "lib/matrix_fp16.glsl"
#include "lib/attention_coopmat_forward.glsl"
