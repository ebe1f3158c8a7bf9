// e^x and 2^x for x <= 0, as softmax, sigmoid and the normal density need them: the same on every device.

const float LOWEST = -3.0e38;  // what a running maximum starts from: below every logit, yet no -inf,
const float HIDDEN = -3.4e38;  // so that differences stay numbers; exp_below(HIDDEN - LOWEST) is 0

// For what is multiplied by a positive number before LOWEST or a logit is subtracted.
float never() { return uintBitsToFloat(0xFF800000); }  // -inf

// Numerics: 1 ulp, and 2^0 is 1. 0 below 2^-100: subnormals, fifty times slower on CPUs, never arise. NaN gives 0.
float exp2_below(float x) {
    precise float shifted = x + 12582912.0;  // 1.5 · 2^23 leaves x's nearest integer in the low bits
    // 2^f = 1 + f · polynomial, interpolated at the Chebyshev points of |f| <= 1/2
    precise float f = x - (shifted - 12582912.0);
    float p = 1.54531634e-4;
    p = p * f + 1.33908633e-3;
    p = p * f + 9.61808302e-3;
    p = p * f + 5.55035695e-2;
    p = p * f + 2.40226507e-1;
    p = p * f + 6.93147182e-1;
    p = p * f + 1.0;
    return x > -100.0 ? uintBitsToFloat(floatBitsToUint(p) + (floatBitsToUint(shifted) << 23)) : 0.0;
}

// 2^x for x <= 0 where it is one of a row's weights, the largest of which is 1: on a GPU its own instruction, which may
// make anything up to 2^-100 of what is below that.
//
// Numerics: Vulkan grants exp2 3 + 2|x| ulp. (3 + 2t) 2^-t falls for t >= 0, so a weight is off by 3 · 2^-23 at most.
// Of n weights, each counted as often as it weighs, t is log2(n) on average or less, so their sum is off by
// (3 + 2 log2(n)) · 2^-23 of itself at most. 2^0 must be 1, or sums would change wherever a maximum stays what it is,
// and 2^-inf must be 0. ops/attention_weight_test.cpp asks each device for all of this.
float weight_below(float x) { return CPU ? exp2_below(x) : exp2(x); }

// Numerics: |x| / 2 + 1 ulp.
float exp_below(float x) { return exp2_below(x * 1.44269504); }
