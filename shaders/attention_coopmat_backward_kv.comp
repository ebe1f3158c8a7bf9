#version 460
//! requires GL_KHR_cooperative_matrix
// attention_backward_kv.comp by cooperative matrices of fp16: see lib/attention_coopmat_backward_kv.glsl.
#include "lib/args.glsl"
#include "lib/matrix_fp16.glsl"
#include "lib/attention_coopmat_backward_kv.glsl"
