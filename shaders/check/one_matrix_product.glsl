// y = a b by one multiplication of cooperative matrices: a [MATRIX_M, MATRIX_K], b [MATRIX_K, MATRIX_N],
// y [MATRIX_M, MATRIX_N]. For the trial of a driver, so it compiles quickly, and loads and stores matrices as
// matmul/matmul_coopmat.glsl does. One workgroup, which is one subgroup.
// Numerics: as matmul/matmul_coopmat.glsl.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"
#include "lib/matrix.glsl"

layout(constant_id = 7) const uint MATRIX_M = 16;
layout(constant_id = 8) const uint MATRIX_N = 16;
layout(constant_id = 9) const uint MATRIX_K = 16;

layout(push_constant) uniform Args {
    In a;
    In b;
    Out y;
};

const uint PAIRS_A = MATRIX_M * MATRIX_K / 2;
const uint PAIRS_B = MATRIX_K * MATRIX_N / 2;
const uint BOTH = (PAIRS_A + PAIRS_B) / 4;         // words of four pairs
const uint FINISHED = MATRIX_M * MATRIX_N / 4;     // words of four sums

shared uvec4 words[BOTH > FINISHED ? BOTH : FINISHED];

void main() {
    for (uint i = gl_LocalInvocationID.x; i < PAIRS_A + PAIRS_B; i += GROUP) {
        const uint at = 2 * (i < PAIRS_A ? i : i - PAIRS_A);
        words[i / 4][i % 4] = pack(i < PAIRS_A ? vec2(a.at[at], a.at[at + 1]) : vec2(b.at[at], b.at[at + 1]));
    }
    barrier();
    coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> left;
    coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> right;
    coopMatLoad(left, words, 0, MATRIX_K / 8, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(right, words, PAIRS_A / 4, MATRIX_N / 8, gl_CooperativeMatrixLayoutRowMajor);
    coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sum =
        coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
    sum = coopMatMulAdd(left, right, sum);
    barrier();  // the operands are loaded
    coopMatStore(sum, words, 0, MATRIX_N / 4, gl_CooperativeMatrixLayoutRowMajor);
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < 4 * FINISHED; i += GROUP)
        y.at[i] = uintBitsToFloat(words[i / 4][i % 4]);
}
