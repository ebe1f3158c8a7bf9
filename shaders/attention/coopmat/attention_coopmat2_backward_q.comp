#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
// attention_backward_q.comp with workgroup matrices of fp16: see
// attention/coopmat/attention_coopmat2_backward_q.glsl.
#include "lib/args.glsl"
#include "lib/matrix_fp16.glsl"
#include "attention/coopmat/attention_coopmat2_backward_q.glsl"
