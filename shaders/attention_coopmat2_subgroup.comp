#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
// attention_coopmat2.comp with a subgroup for the workgroup and loads by shared memory: what tests can run.
#define OF_SUBGROUP
#include "lib/args.glsl"
#include "lib/matrix_fp16.glsl"
#include "lib/attention_coopmat2_forward.glsl"
