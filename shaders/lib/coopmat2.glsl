// Matrices as large as a whole tile (VK_NV_cooperative_matrix2). A workgroup holds them together, or with OF_SUBGROUP a
// subgroup, which is then its workgroup's only one. Who has which element is the device's affair: a kernel says what
// becomes of an element or a row, and the same source serves both.
//
// Expects lib/args.glsl, lib/vector_layout.glsl and lib/matrix_fp16.glsl or lib/matrix_bf16.glsl.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix2 : require
#extension GL_EXT_spirv_intrinsics : require

#ifdef OF_SUBGROUP
#define SCOPE gl_ScopeSubgroup
#else
#define SCOPE gl_ScopeWorkgroup
#endif
#define LEFT(rows, columns) coopmat<ELEMENT, SCOPE, rows, columns, gl_MatrixUseA>
#define RIGHT(rows, columns) coopmat<ELEMENT, SCOPE, rows, columns, gl_MatrixUseB>
#define SUM(rows, columns) coopmat<float, SCOPE, rows, columns, gl_MatrixUseAccumulator>
#define ROUNDED_SUM(rows, columns) coopmat<ELEMENT, SCOPE, rows, columns, gl_MatrixUseAccumulator>

// OpFConvert, by CooperativeMatrixConversionsNV also to another use: glslc has no constructors for the type of
// lib/matrix_bf16.glsl. ROUND comes first: it makes of each fp32 the number that is converted without a rounding.
#define ROUND(matrix) coopMatPerElementNV(matrix, matrix, nearest_element)
#define ROUNDING spirv_instruction(extensions = ["SPV_NV_cooperative_matrix2"], capabilities = [5431], id = 115)

float nearest_element(const in uint row, const in uint column, const in float x) { return nearest(x); }

// For coopMatReduceNV.
float sum_of(const in float a, const in float b) { return a + b; }
float larger_of(const in float a, const in float b) { return max(a, b); }

#ifdef OF_SUBGROUP
#include "lib/coopmat2_staged.glsl"
#else
#include "lib/coopmat2_tensor.glsl"
#endif
