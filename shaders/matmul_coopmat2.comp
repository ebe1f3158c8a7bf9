#version 460
//! requires GL_KHR_cooperative_matrix GL_NV_cooperative_matrix2
// The product of matmul.comp by matrices that a whole workgroup holds (VK_NV_cooperative_matrix2): the driver stages
// and pipelines the slices, edges are the tensor layouts' affair, transposes are views of them.
//
// Shapes, splits: as matmul.comp.
// Owner: a workgroup has a tile of y, as one accumulator whose elements lie where the driver wants them.
// a, b and y are 32-bit numbers. Numerics: as matmul_coopmat.comp; operands are rounded to fp16 while they are loaded.
// Not yet run: of the devices at hand none has matrices of a workgroup. It is chosen only where it proves right.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require
#include "lib/matmul.glsl"

layout(constant_id = 7) const uint TILE_M = 128;
layout(constant_id = 8) const uint TILE_N = 128;
layout(constant_id = 9) const uint SLICE = 64;

spirv_execution_mode(capabilities = [4467], 4462, 16);  // RoundingModeRTE, of 16 bits

layout(buffer_reference, scalar, buffer_reference_align = 4) restrict readonly buffer Element { float value; };

float16_t rounded(const in Element from, const in uint block[2], const in uint in_block[2]) {
    return float16_t(from.value);
}

// What becomes of element (row, column) of the tile; `at` is the tile's batch and place in y.
float finish_element(const in uint row, const in uint column, const in float sum, const in uvec3 at) {
    const uint i = at.y + row, j = at.z + column;
    if (i >= m || j >= n) return 0.0;  // not stored
    const float shift = BIAS ? bias.at[j] : 0.0;
    return finish(sum, shift, at.x * addend_batch + i * addend_pitch + j);
}

tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> matrix(uint rows, uint columns, uint pitch) {
    tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> made =
        createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
    made = setTensorLayoutDimensionNV(made, rows, columns);
    made = setTensorLayoutStrideNV(made, pitch, 1);
    return setTensorLayoutClampValueNV(made, 0);
}

void main() {
    const uint across = (n + TILE_N - 1) / TILE_N;
    const uint tiles = across * ((m + TILE_M - 1) / TILE_M);
    const uint part = group_index() / tiles;
    if (part >= batches * splits) return;  // the whole workgroup
    const uint row0 = group_index() % tiles / across * TILE_M;
    const uint column0 = group_index() % tiles % across * TILE_N;
    const uint batch = part / splits;
    const uint k_begin = part_k_begin(part), k_end = part_k_end(part);
    const uint a_begin = batch * a_batch, b_begin = batch * b_batch;

    tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> of_a =
        matrix(TRANSPOSE_A ? k_end : m, TRANSPOSE_A ? m : k_end, a_pitch);
    tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> of_b =
        matrix(TRANSPOSE_B ? n : k_end, TRANSPOSE_B ? k_end : n, b_pitch);
    tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> of_y = matrix(m, n, y_pitch);
    tensorViewNV<2, false, 1, 0> transposed = createTensorViewNV(2, false, 1, 0);

    coopmat<float, gl_ScopeWorkgroup, TILE_M, TILE_N, gl_MatrixUseAccumulator> sum =
        coopmat<float, gl_ScopeWorkgroup, TILE_M, TILE_N, gl_MatrixUseAccumulator>(0.0);
    for (uint k0 = k_begin; k0 < k_end; k0 += SLICE) {
        coopmat<float16_t, gl_ScopeWorkgroup, TILE_M, SLICE, gl_MatrixUseA> x;
        coopmat<float16_t, gl_ScopeWorkgroup, SLICE, TILE_N, gl_MatrixUseB> z;
        if (TRANSPOSE_A)
            coopMatLoadTensorNV(x, a.at, a_begin, sliceTensorLayoutNV(of_a, k0, SLICE, row0, TILE_M), transposed,
                                rounded);
        else
            coopMatLoadTensorNV(x, a.at, a_begin, sliceTensorLayoutNV(of_a, row0, TILE_M, k0, SLICE), rounded);
        if (TRANSPOSE_B)
            coopMatLoadTensorNV(z, b.at, b_begin, sliceTensorLayoutNV(of_b, column0, TILE_N, k0, SLICE), transposed,
                                rounded);
        else
            coopMatLoadTensorNV(z, b.at, b_begin, sliceTensorLayoutNV(of_b, k0, SLICE, column0, TILE_N), rounded);
        sum = coopMatMulAdd(x, z, sum);
    }
    coopMatPerElementNV(sum, sum, finish_element, uvec3(batch, row0, column0));
    coopMatStoreTensorNV(sum, y.at, part * y_batch, sliceTensorLayoutNV(of_y, row0, TILE_M, column0, TILE_N));
}
