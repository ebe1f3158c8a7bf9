#version 460
//! requires GL_KHR_cooperative_matrix
// attention_backward_q.comp with cooperative matrices of fp16: see attention/coopmat/attention_coopmat_backward_q.glsl.
#include "lib/args.glsl"
#include "lib/matrix_fp16.glsl"
#include "attention/coopmat/attention_coopmat_backward_q.glsl"
