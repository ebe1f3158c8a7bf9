// Peak rate of the device's cooperative matrices: every subgroup computes independent products in registers.
//
// Numerics: factors are drawn from [-1, 1), because a device may be faster on zeros; a link adds less than MATRIX_K to
//   a sum.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"
#include "lib/matrix.glsl"

layout(constant_id = 2) const uint MATRIX_M = 16;
layout(constant_id = 3) const uint MATRIX_N = 16;
layout(constant_id = 4) const uint MATRIX_K = 16;
layout(constant_id = 5) const uint ROWS = 2;  // factors of a subgroup
layout(constant_id = 6) const uint COLUMNS = 4;
layout(constant_id = 7) const uint LINKS = 4;  // products added to each sum per turn of the loop

layout(push_constant) uniform Args {
    Out y;
    uint turns;
};

const uint LINE = MATRIX_K / 8;
const uint LINES = ROWS * MATRIX_M + COLUMNS * MATRIX_N;
const uint VEC4S = MATRIX_M * MATRIX_N / 4;  // per sum

#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>

shared uvec4 factors[LINES * LINE];
shared vec4 finished[GROUP / SUBGROUP * VEC4S];  // VEC4S per subgroup

// Pseudo-random number in [-1, 1); neighbouring i differ in all bits.
float drawn(uint i) { return float((i + 1) * 2654435769u >> 8) * (2.0 / 16777216.0) - 1.0; }

void main() {
    for (uint i = gl_LocalInvocationID.x; i < LINES * LINE; i += GROUP)
        factors[i] = elements(vec4(drawn(8 * i), drawn(8 * i + 1), drawn(8 * i + 2), drawn(8 * i + 3)),
                              vec4(drawn(8 * i + 4), drawn(8 * i + 5), drawn(8 * i + 6), drawn(8 * i + 7)));
    barrier();
    LEFT x[ROWS];
    RIGHT z[COLUMNS];
    [[unroll]] for (uint i = 0; i < ROWS; ++i)
        coopMatLoad(x[i], factors, i * MATRIX_M * LINE, LINE, gl_CooperativeMatrixLayoutRowMajor);
    [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
        coopMatLoad(z[j], factors, (ROWS * MATRIX_M + j * MATRIX_N) * LINE, LINE,
                    gl_CooperativeMatrixLayoutColumnMajor);
    SUM sum[ROWS * COLUMNS];
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) sum[i] = SUM(0.0);
    [[dont_unroll]] for (uint turn = 0; turn < turns; ++turn)
        [[unroll]] for (uint link = 0; link < LINKS; ++link)
            [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i)
                sum[i] = coopMatMulAdd(x[i / COLUMNS], z[i % COLUMNS], sum[i]);
    // The result depends on all sums, so compilers cannot remove any.
    [[unroll]] for (uint i = 1; i < ROWS * COLUMNS; ++i) sum[0] = sum[0] + sum[i];
    const uint mine = gl_SubgroupID * VEC4S;
    coopMatStore(sum[0], finished, mine, MATRIX_N / 4, gl_CooperativeMatrixLayoutRowMajor);
    shared_barrier();
    const vec4 some = finished[mine + gl_SubgroupInvocationID % VEC4S];
    y.at[group_index() * GROUP + gl_LocalInvocationID.x] = some.x + some.y + some.z + some.w;
}
