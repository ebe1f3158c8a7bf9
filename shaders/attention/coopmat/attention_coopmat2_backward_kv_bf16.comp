#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
//! spirv-val 2025.2
// attention_backward_kv.comp with workgroup matrices of bfloat16: see
// attention/coopmat/attention_coopmat2_backward_kv.glsl.
#include "lib/args.glsl"
#include "lib/matrix_bf16.glsl"
#include "attention/coopmat/attention_coopmat2_backward_kv.glsl"
