// e^x and 2^x for x <= 0, for softmax, sigmoid and the normal density; equal on all devices.

const float LOWEST = -3.0e38;  // initial running maximum: below every logit, but finite
const float HIDDEN = -3.4e38;  // hidden logit: finite, so that differences are not NaN; exp_below(HIDDEN - LOWEST) is 0

// Hidden logit that is multiplied by a positive number before LOWEST or a logit is subtracted.
float never() { return uintBitsToFloat(0xFF800000); }  // -inf

// Numerics: 1 ulp, and 2^0 is 1. Results below 2^-100 are 0, which avoids subnormals, fifty times slower on CPUs. NaN
// gives 0.
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

// 2^x for x <= 0 as one of a row's weights, the largest of which is 1. On a GPU it is the device's exp2, which may give
// anything up to 2^-100 for results below 2^-100.
//
// Numerics: Vulkan grants exp2 3 + 2|x| ulp. With x = -t, (3 + 2t) 2^-t falls for t >= 0, so the error of a weight is
// at most 3 · 2^-23. The mean of t over n weights, weighted by themselves, is at most log2(n), so the relative error of
// their sum is at most (3 + 2 log2(n)) · 2^-23. 2^0 must be 1, or sums would change where a maximum stays the same, and
// 2^-inf must be 0. tests/ops/attention/attention_weight_test.cpp checks all of this on each device.
float weight_below(float x) { return CPU ? exp2_below(x) : exp2(x); }

// Numerics: |x| / 2 + 1 ulp.
float exp_below(float x) { return exp2_below(x * 1.44269504); }
