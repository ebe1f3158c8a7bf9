#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
// matmul_coopmat2.comp with a subgroup for the workgroup and loads by shared memory: what tests can run.
#define OF_SUBGROUP
#include "lib/matrix_fp16.glsl"
#include "lib/matmul_coopmat2.glsl"
