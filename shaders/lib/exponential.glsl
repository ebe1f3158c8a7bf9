// e^x for x <= 0, as softmax, sigmoid and the normal density need it.

// Numerics: |x| + 2 ulp. 0 below e^-69: subnormals, fifty times slower on CPUs, never arise. Not GLSL's exp, whose error
// on CPU devices is several times as large. NaN gives 0.
float exp_below(float x) {
    float t = x * 1.44269504;
    float n = round(t);
    float f = t - n;  // 2^f by its Taylor series, |f| <= 1/2
    float p = 1.5403530e-4;
    p = p * f + 1.3333558e-3;
    p = p * f + 9.6181291e-3;
    p = p * f + 5.5504109e-2;
    p = p * f + 2.4022651e-1;
    p = p * f + 6.9314718e-1;
    p = p * f + 1.0;
    return t > -100.0 ? uintBitsToFloat(floatBitsToUint(p) + (uint(int(n)) << 23)) : 0.0;
}
