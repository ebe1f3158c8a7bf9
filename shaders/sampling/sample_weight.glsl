// Weights of tokens for drawing, bit for bit as in runtime/ops/sampling/sample_weight.cpp. Integers only; the
// difference of floats from which a weight is computed is rounded equally by all devices.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// The number m·2^exponent with 2^39 <= m < 2^40, m = high·2^32 + low; or 0.
struct Scale {
    uint low;
    uint high;
    int exponent;
};

const uint64_t WHOLE_WEIGHT = 1ul << 40;

uint64_t wide(uint low, uint high) { return uint64_t(high) << 32 | low; }

// Product of a float's 24-bit significand and the scale's 40-bit m, in [2^62, 2^64).
uint64_t product_of(uint size, Scale scale) {
    return uint64_t((size & 0x7fffffu) | 0x800000u) * wide(scale.low, scale.high);
}

float rescaled(float value, Scale scale) {
    const uint bits = floatBitsToUint(value), size = bits & 0x7fffffffu;
    if (size < 0x00800000u) return value;
    const uint64_t product = product_of(size, scale);
    uint drop = uint(product >> 63) != 0 ? 40 : 39;
    uint digits = uint(product >> drop);
    const uint64_t rest = product & ((1ul << drop) - 1), half_unit = 1ul << (drop - 1);
    if (rest > half_unit || (rest == half_unit && digits % 2 == 1)) ++digits;
    if (digits == 0x1000000u) {
        digits = 0x800000u;
        ++drop;
    }
    const int exponent = int(size >> 23) + scale.exponent + int(drop);
    const uint sign = bits & 0x80000000u;
    if (exponent < 1) return uintBitsToFloat(sign);
    if (exponent > 254) return uintBitsToFloat(sign | 0x7f7fffffu);
    return uintBitsToFloat(sign | uint(exponent) << 23 | (digits & 0x7fffffu));
}

uint next_term(uint coefficient, uint part, uint sum) {
    return coefficient - uint(uint64_t(part) * sum >> 32);
}

// Weight of a logit that is `below` less than the largest.
uint64_t weight(float below, Scale scale) {
    const uint bits = floatBitsToUint(below);
    if (bits < 0x00800000u) return WHOLE_WEIGHT;
    const int shift = 150 - 32 - int(bits >> 23) - scale.exponent;
    if (shift < 24) return 0ul;
    if (shift > 63) return WHOLE_WEIGHT;
    const uint64_t power = product_of(bits, scale) >> shift;
    const uint whole = uint(power >> 32), part = uint(power);
    if (whole > 41) return 0ul;
    uint sum = 0x00000fc7u;
    sum = next_term(0x0000f4c0u, part, sum);
    sum = next_term(0x000a0d82u, part, sum);
    sum = next_term(0x00575be2u, part, sum);
    sum = next_term(0x02765365u, part, sum);
    sum = next_term(0x0e35840bu, part, sum);
    sum = next_term(0x3d7f7bf6u, part, sum);
    sum = next_term(0xb17217f8u, part, sum);
    const uint64_t exponential = (1ul << 32) - (uint64_t(part) * sum >> 32);
    return ((exponential << 9 >> whole) + 1ul) >> 1;
}

// Upper 64 bits of the 128-bit product; the lower ones are a * b.
uint64_t upper_product(uint64_t a, uint64_t b) {
    const uint64_t a0 = uint64_t(uint(a)), a1 = a >> 32, b0 = uint64_t(uint(b)), b1 = b >> 32;
    const uint64_t middle = (a0 * b0 >> 32) + uint64_t(uint(a1 * b0)) + uint64_t(uint(a0 * b1));
    return a1 * b1 + (a1 * b0 >> 32) + (a0 * b1 >> 32) + (middle >> 32);
}
