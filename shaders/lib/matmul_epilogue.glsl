// The end of each element of a matrix product, for the kernels that have its sum or add up the parts of it.
#include "lib/activation.glsl"

// Epilogues, numbered as `Epilogue` in runtime/ops/gemm.h: what becomes of aux, an operand of y's shape.
const uint ADD = 1;
const uint ACTIVATION_BACKWARD = 2;

// Returns factor · activation(v) for v = alpha · sum + bias, with ADD plus aux. With ACTIVATION_BACKWARD it returns
// factor · v · activation'(aux). `precise`, so that the result is the same whichever kernel has the end of it.
float finish(uint epilogue, uint kind, float x, float factor, float aux) {
    precise float v = x;
    if (epilogue == ACTIVATION_BACKWARD) v *= activation_slope(kind, aux);
    else v = activation(kind, v);
    v *= factor;
    if (epilogue == ADD) v += aux;
    return v;
}
