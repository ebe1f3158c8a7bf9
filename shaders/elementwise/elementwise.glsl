// Elementwise ops, one or several in a chain: y_i is the result of STEPS steps on element i of the inputs.
//
// A step (runtime/ops/elementwise/elementwise.h) is kind | activation << 4 | a << 8 | b << 12 | word << 16. a and b are
// indices of values: first the inputs, then the results of earlier steps. The step's numbers are arguments w0 …, from
// index `word` on. Steps are constants, so the compiled kernel contains only their arithmetic, and values stay in
// registers.
// A broadcast input is read at (i / div) % mod, with one div and mod for all inputs. With STRIDED each input has its
// own strides and is read at Σ i_k · stride_k over the coordinates i_k of AXES axes, as few as possible. EACH
// neighbouring results are computed at a time, from one element of a broadcast input, or from EACH neighbouring
// elements (ALONG).
// Numerics: fp32, each step rounded separately, so that a result is the same in a chain and alone.
#include "lib/args.glsl"
#include "elementwise/activation.glsl"
#include "lib/vector_layout.glsl"
#include "lib/random.glsl"

layout(constant_id = 2) const uint INPUTS = 1;
layout(constant_id = 3) const uint STEPS = 1;
layout(constant_id = 4) const uint EACH = 4;       // 4, 2 or 1
layout(constant_id = 5) const uint LEFT = 0;       // count % EACH
layout(constant_id = 6) const uint BROADCAST = 0;  // a bit for each input that is broadcast
layout(constant_id = 7) const uint ALONG = 0;      // a bit for each broadcast input with EACH elements for EACH results
layout(constant_id = 8) const uint STEP0 = 0;
layout(constant_id = 9) const uint STEP1 = 0;
layout(constant_id = 10) const uint STEP2 = 0;
layout(constant_id = 11) const uint STEP3 = 0;
layout(constant_id = 12) const uint STEP4 = 0;
layout(constant_id = 13) const uint STEP5 = 0;
layout(constant_id = 14) const uint LAYOUT0 = SCALAR;  // layouts of inputs (lib/vector_layout.glsl)
layout(constant_id = 15) const uint LAYOUT1 = SCALAR;
layout(constant_id = 16) const uint LAYOUT2 = SCALAR;
layout(constant_id = 17) const uint LAYOUT3 = SCALAR;
layout(constant_id = 18) const uint LAYOUT4 = SCALAR;
layout(constant_id = 19) const uint LAYOUT5 = SCALAR;
layout(constant_id = 20) const uint LAYOUT_Y = SCALAR;

const uint ADD = 0, SUB = 1, MUL = 2, DIV = 3, SCALE = 4, FILL = 5, ACTIVATE = 6, SLOPE = 7, DROPOUT = 8;
const uint FIRST_STEP = 6;  // index of the first step's result among the values
#ifdef STRIDED
layout(constant_id = 21) const uint AXES = 1;

struct Axis {
    uint extent;
    uint x0;  // strides
    uint x1;
    uint x2;
    uint x3;
    uint x4;
    uint x5;
};
REFERENCE readonly buffer Axes { Axis at[]; };
#else
const uint AXES = 3;        // of a broadcast: repetitions of the input, its elements, repetitions of each element
#endif
#include "elementwise/strided_index.glsl"

layout(push_constant) uniform Args {
    In x0;
    In x1;
    In x2;
    In x3;
    In x4;
    In x5;
    InInt seed;
    Out y;
    uint count;
    uint per_group;
#ifdef STRIDED
    Axes axes;
#else
    uint div;
    uint mod;
#endif
    uint w0;
    uint w1;
    uint w2;
    uint w3;
    uint w4;
    uint w5;
};

uint word(uint i) { return i == 0 ? w0 : i == 1 ? w1 : i == 2 ? w2 : i == 3 ? w3 : i == 4 ? w4 : w5; }

// Loads `there` neighbours from element i on; in a broadcast input the first is element `operand_at`.
vec4 load(In x, bool is_broadcast, bool along, uint form, uint i, uint operand_at, uint there) {
    if (is_broadcast && !along) return vec4(load_one(x, operand_at, form));
    const uint at = is_broadcast ? operand_at : i;
    vec4 v = vec4(load_some(x, at, there > 1, form), 0.0, 0.0);
    if (there > 2) v.zw = load_some(x, at + 2, there > 3, form);
    return v;
}

// Dropout factors of EACH elements from i on. The mask is computed in blocks of four elements, whatever EACH is.
vec4 kept(uint i, uint salt, float rate) {
    const vec4 factors = dropout_scale4(uvec2(seed.at[0], seed.at[1]), salt, 0, i / 4, rate);
    return EACH == 4 ? factors : EACH == 2 ? (i % 4 == 0 ? factors : factors.zwzw) : vec4(factors[i % 4]);
}

vec4 taken(uint code, vec4 a, vec4 b, uint i) {
    const uint kind = code & 15, how = code >> 4 & 15, first = code >> 16;
    precise vec4 v = vec4(0.0);
    if (kind == ADD) v = a + b;
    else if (kind == SUB) v = a - b;
    else if (kind == MUL) v = a * b;
    else if (kind == DIV) v = a / b;
    else if (kind == SCALE) v = uintBitsToFloat(word(first)) * a;
    else if (kind == FILL) v = vec4(uintBitsToFloat(word(first)));
    else if (kind == DROPOUT) v = a * kept(i, word(first), uintBitsToFloat(word(first + 1)));
    else [[unroll]] for (uint e = 0; e < EACH; ++e)
        v[e] = kind == ACTIVATE ? activation(how, a[e]) : activation_slope(how, a[e]) * b[e];
    return v;
}

#ifdef STRIDED
uint stride0[6] = {0, 0, 0, 0, 0, 0};
uint stride1[6] = {0, 0, 0, 0, 0, 0};
uint stride2[6] = {0, 0, 0, 0, 0, 0};
uint stride3[6] = {0, 0, 0, 0, 0, 0};
uint stride4[6] = {0, 0, 0, 0, 0, 0};
uint stride5[6] = {0, 0, 0, 0, 0, 0};
#define READ_STRIDES(n) \
    if (n < INPUTS) [[unroll]] for (uint k = 0; k < AXES; ++k) stride##n[k] = axes.at[k].x##n;
#define BROADCAST_INDEX(n) offset(at, stride##n)
#else
#define BROADCAST_INDEX(n) at[1]
#endif
#define LOAD(n) \
    if (n < INPUTS) \
        values[n] = \
            load(x##n, (BROADCAST >> n & 1) != 0, (ALONG >> n & 1) != 0, LAYOUT##n, i, BROADCAST_INDEX(n), there);
#define OPERAND(n, shift) values[STEP##n >> shift & 15]
#define TAKE(n) \
    if (n < STEPS) last = values[FIRST_STEP + n] = taken(STEP##n, OPERAND(n, 8), OPERAND(n, 12), i);

void make(uint i, uint at[6], uint there) {
    vec4 values[FIRST_STEP + 6];
    LOAD(0) LOAD(1) LOAD(2) LOAD(3) LOAD(4) LOAD(5)
    vec4 last;
    TAKE(0)
#ifdef CHAIN
    TAKE(1) TAKE(2) TAKE(3) TAKE(4) TAKE(5)
#endif
    store_some(y, i, last.xy, there > 1, LAYOUT_Y);
    if (there > 2) store_some(y, i + 2, last.zw, there > 3, LAYOUT_Y);
}

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, count);
    const uint mine = first + EACH * gl_LocalInvocationID.x;
#ifdef STRIDED
    uint extent[6] = {0, 0, 0, 0, 0, 0};
    [[unroll]] for (uint k = 0; k < AXES; ++k) extent[k] = axes.at[k].extent;
    READ_STRIDES(0) READ_STRIDES(1) READ_STRIDES(2) READ_STRIDES(3) READ_STRIDES(4) READ_STRIDES(5)
#else
    const uint extent[6] = {0, mod, div, 0, 0, 0};
#endif
    const uint by[6] = digits(EACH * GROUP, extent);
    uint at[6] = digits(mine, extent);
    // A single loop: drivers compile every kind of step at each place in the code, before they know the constants.
    for (uint i = mine; i < end; i += EACH * GROUP) {
        make(i, at, LEFT == 0 ? EACH : min(EACH, end - i));
        if (BROADCAST != 0) advance(at, by, extent);
    }
}
