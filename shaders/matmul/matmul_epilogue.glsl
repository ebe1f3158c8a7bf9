// Epilogue of each element of a matrix product, for the kernels that compute its sum or add up partial sums.
#include "elementwise/activation.glsl"

// Uses of aux, an operand of y's shape, numbered as `Epilogue` in runtime/ops/matmul/gemm.h.
const uint ADD = 1;
const uint ACTIVATION_BACKWARD = 2;

// factor · activation(v) for v = alpha · sum + bias, with ADD plus aux; with ACTIVATION_BACKWARD
// factor · v · activation'(aux). `precise`, so that the result is equal in all kernels.
float finish(uint epilogue, uint kind, float x, float factor, float aux) {
    precise float v = x;
    if (epilogue == ACTIVATION_BACKWARD) v *= activation_slope(kind, aux);
    else v = activation(kind, v);
    v *= factor;
    if (epilogue == ADD) v += aux;
    return v;
}
