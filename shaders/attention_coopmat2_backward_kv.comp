#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
// attention_backward_kv.comp by matrices of fp16 that a workgroup holds: see lib/attention_coopmat2_backward_kv.glsl.
#include "lib/args.glsl"
#include "lib/matrix_fp16.glsl"
#include "lib/attention_coopmat2_backward_kv.glsl"
