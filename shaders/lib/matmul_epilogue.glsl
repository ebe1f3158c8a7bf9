// The end of each element of a matrix product, for the kernels that have its sum or add up the parts of it.
#include "lib/activation.glsl"

// What is done with one more operand of y's shape, aux: `Epilogue` in runtime/ops/gemm.h.
const uint ADD = 1;
const uint SLOPE = 2;

// Of v = alpha · sum + bias: factor · activation(v), plus aux with ADD; with SLOPE factor · v · activation'(aux).
float finish(uint epilogue, uint kind, float v, float factor, float aux) {
    if (epilogue == SLOPE) v *= activation_slope(kind, aux);
    else v = activation(kind, v);
    v *= factor;
    if (epilogue == ADD) v += aux;
    return v;
}
