#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
// matmul_coopmat2.comp with a single subgroup and loads by shared memory, for tests.
#define OF_SUBGROUP
#include "lib/matrix_fp16.glsl"
#include "matmul/matmul_coopmat2.glsl"
