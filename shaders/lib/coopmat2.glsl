// Matrices as large as a whole tile (VK_NV_cooperative_matrix2), held by a workgroup, or with OF_SUBGROUP by the only
// subgroup of a workgroup. The device chooses which invocation holds which element; kernels only define functions of an
// element or a row, so the same source serves both scopes.
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

// ROUNDING declares OpFConvert, which CooperativeMatrixConversionsNV allows to change a matrix's use, too: glslc has no
// constructors for the type of lib/matrix_bf16.glsl. ROUND goes before it and rounds each fp32 to a number that
// converts exactly.
#define ROUND(matrix) coopMatPerElementNV(matrix, matrix, nearest_element)
#define ROUNDING spirv_instruction(extensions = ["SPV_NV_cooperative_matrix2"], capabilities = [5431], id = 115)

float nearest_element(const in uint row, const in uint column, const in float x) { return nearest(x); }

// Reductions for coopMatReduceNV.
float sum_of(const in float a, const in float b) { return a + b; }
float larger_of(const in float a, const in float b) { return max(a, b); }

#ifdef OF_SUBGROUP
#include "lib/coopmat2_staged.glsl"
#else
#include "lib/coopmat2_tensor.glsl"
#endif
