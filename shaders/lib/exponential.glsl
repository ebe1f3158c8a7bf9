// e^x for x <= 0, as softmax, sigmoid and the normal density need it: the same on every device.

// Numerics: |x| / 2 + 1 ulp, and e^0 is 1. 0 below e^-69: subnormals, fifty times slower on CPUs,
// never arise. NaN gives 0.
float exp_below(float x) {
    float t = x * 1.44269504;
    precise float shifted = t + 12582912.0;  // 1.5 · 2^23 leaves t's nearest integer in the low bits
    // 2^f = 1 + f · polynomial, interpolated at the Chebyshev points of |f| <= 1/2
    precise float f = t - (shifted - 12582912.0);
    float p = 1.54531634e-4;
    p = p * f + 1.33908633e-3;
    p = p * f + 9.61808302e-3;
    p = p * f + 5.55035695e-2;
    p = p * f + 2.40226507e-1;
    p = p * f + 6.93147182e-1;
    p = p * f + 1.0;
    return t > -100.0 ? uintBitsToFloat(floatBitsToUint(p) + (floatBitsToUint(shifted) << 23)) : 0.0;
}
